package main

import (
	"bytes"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	smallBody  = 64 << 10 // below this a body is compressed in one go, without an encoder of its own
	spillAbove = 1 << 20  // compressed bytes in memory per body
	window     = 128 << 10
)

// reference says where a body lies in bodies.zst.
type reference struct{ offset, length int64 }

func newEncoder(options ...zstd.EOption) *zstd.Encoder {
	options = append(options, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	encoder, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(err) // options that are constant here
	}
	return encoder
}

// encoders are big and few: unlike a sync.Pool this keeps some whatever the garbage collector does.
type encoders struct {
	idle    chan *zstd.Encoder
	options []zstd.EOption
}

var (
	// Entropy coding is most of the time that a small body costs, and saves little disk.
	smallEncoders = encoders{make(chan *zstd.Encoder, 4), []zstd.EOption{zstd.WithNoEntropyCompression(true)}}
	bigEncoders   = encoders{make(chan *zstd.Encoder, 4), nil}
)

func (e encoders) get() *zstd.Encoder {
	select {
	case encoder := <-e.idle:
		return encoder
	default:
		return newEncoder(e.options...)
	}
}

func (e encoders) put(encoder *zstd.Encoder) {
	select {
	case e.idle <- encoder:
	default:
	}
}

// body compresses what it is given as one zstd frame, with little memory whatever its size.
type body struct {
	folder  string
	size    int64
	raw     []byte
	encoder *zstd.Encoder
	packed  spill
	err     error
}

func (b *body) write(p []byte) {
	b.size += int64(len(p))
	if b.err != nil {
		return
	}
	if b.encoder == nil {
		if len(b.raw)+len(p) <= smallBody {
			b.raw = append(b.raw, p...)
			return
		}
		b.packed.folder = b.folder
		b.encoder = bigEncoders.get()
		b.encoder.Reset(&b.packed)
		_, b.err = b.encoder.Write(b.raw)
		b.raw = nil
	}
	if b.err == nil {
		_, b.err = b.encoder.Write(p)
	}
}

// closeStream ends the frame of a big body and gives its encoder back. A small body has none yet.
func (b *body) closeStream() {
	if b.encoder == nil {
		return
	}
	if err := b.encoder.Close(); b.err == nil {
		b.err = err
	}
	b.encoder.Reset(nil)
	bigEncoders.put(b.encoder)
	b.encoder = nil
}

// close makes the frame whole, whatever the size.
func (b *body) close() {
	b.closeStream()
	if len(b.raw) > 0 {
		encoder := smallEncoders.get()
		b.packed.memory.Write(encoder.EncodeAll(b.raw, nil))
		smallEncoders.put(encoder)
		b.raw = nil
	}
}

// spill keeps bytes in memory, and in a file that has no name once there are many.
type spill struct {
	folder string
	memory bytes.Buffer
	file   *os.File
	length int64
}

// Write takes the next compressed bytes.
func (s *spill) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= spillAbove {
		return s.memory.Write(p)
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Write(p)
	s.length += int64(n)
	return n, err
}

func (s *spill) open() error {
	file, err := os.CreateTemp(s.folder, ".body-*")
	if err != nil {
		return err
	}
	s.file = file
	if err := os.Remove(file.Name()); err != nil {
		return err
	}
	n, err := file.Write(s.memory.Bytes())
	s.length = int64(n)
	s.memory = bytes.Buffer{}
	return err
}

func (s *spill) copyTo(w io.Writer) (int64, error) {
	if s.file == nil {
		n, err := w.Write(s.memory.Bytes())
		return int64(n), err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	// Not io.Copy: a file would be read through a buffer of the whole reader's choosing.
	return io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(s.file, s.length), make([]byte, 64<<10))
}

func (s *spill) drop() {
	if s.file != nil {
		_ = s.file.Close()
	}
	s.memory = bytes.Buffer{}
}
