package main

import (
	"bytes"
	"strconv"
	"strings"
)

const (
	headLimit = 1 << 20
	lineLimit = 16 << 10
)

type pieceKind int

const (
	nothingYet pieceKind = iota // bytes were kept until a head is whole
	headPiece
	payloadPiece // body bytes
	framingPiece // chunk sizes and trailers
	rawPiece     // not understood; relayed all the same
)

// piece is a part of the stream in the order of its bytes; data has them all, exactly as they came.
type piece struct {
	kind pieceKind
	data []byte
	head *head
	last bool // the message ends here
}

type framerState int

const (
	inHead framerState = iota
	inLength
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	untilClose
	raw
)

// framer finds where HTTP/1.1 messages begin and end; it never changes a byte.
type framer struct {
	isReply bool
	method  func() string // of the request that is being answered; only for replies
	state   framerState
	left    int64  // of the body or chunk
	kept    []byte // head or line that is not whole yet
}

// next takes bytes from the front of p and returns them as a piece, and what is left of p.
func (f *framer) next(p []byte) (piece, []byte) {
	switch f.state {
	case inHead:
		return f.nextHead(p)
	case inLength, inChunk:
		n := min(int64(len(p)), f.left)
		f.left -= n
		x := piece{kind: payloadPiece, data: p[:n]}
		switch {
		case f.left > 0:
		case f.state == inLength:
			f.state, x.last = inHead, true
		default:
			f.state = inChunkEnd
		}
		return x, p[n:]
	case inChunkSize, inChunkEnd, inTrailer:
		return f.nextLine(p)
	case untilClose:
		return piece{kind: payloadPiece, data: p}, nil
	default:
		return piece{kind: rawPiece, data: p}, nil
	}
}

// rest returns what was kept back when the stream ends, and whether the end completes a message.
func (f *framer) rest() (data []byte, completes bool) {
	data, f.kept = f.kept, nil
	return data, f.state == untilClose
}

// idle says whether the stream stands between two messages.
func (f *framer) idle() bool { return f.state == inHead && len(f.kept) == 0 }

func (f *framer) nextHead(p []byte) (piece, []byte) {
	from := max(0, len(f.kept)-3)
	f.kept = append(f.kept, p...)
	end := headEnd(f.kept, from)
	if end > headLimit || (end < 0 && len(f.kept) > headLimit) {
		return f.giveUp(), nil
	}
	if end < 0 {
		return piece{}, nil
	}
	// What follows the head is given back as a part of p.
	rest := p[len(p)-(len(f.kept)-end):]
	text := f.kept[:end:end]
	parsed := parseHead(text, f.isReply)
	if parsed == nil {
		return f.giveUp(), nil
	}
	f.kept = nil
	last := f.begin(parsed)
	return piece{kind: headPiece, data: text, head: parsed, last: last}, rest
}

// headEnd returns where the head that begins at 0 ends, -1 if it is not whole. Blank lines before it belong to it.
func headEnd(p []byte, from int) int {
	start := 0
	for start < len(p) && (p[start] == '\r' || p[start] == '\n') {
		start++
	}
	from = max(from, start)
	for i := from; i < len(p); i++ {
		if p[i] != '\n' {
			continue
		}
		if i+1 < len(p) && p[i+1] == '\n' {
			return i + 2
		}
		if i+2 < len(p) && p[i+1] == '\r' && p[i+2] == '\n' {
			return i + 3
		}
	}
	return -1
}

// begin sets the state for the body that follows a head and returns whether there is none.
func (f *framer) begin(h *head) (last bool) {
	if f.isReply {
		if h.status == 101 {
			f.state = raw
			return true
		}
		if h.status < 200 {
			return false
		}
		if h.status == 204 || h.status == 304 || f.method() == "HEAD" {
			return true
		}
	}
	switch {
	case h.chunked:
		f.state = inChunkSize
	case h.length > 0:
		f.state, f.left = inLength, h.length
	case h.length < 0 && f.isReply:
		f.state = untilClose
	default:
		return true
	}
	return false
}

func (f *framer) nextLine(p []byte) (piece, []byte) {
	end := bytes.IndexByte(p, '\n') + 1
	if end == 0 {
		end = len(p)
	}
	f.kept = append(f.kept, p[:end]...)
	x := piece{kind: framingPiece, data: p[:end]}
	if f.kept[len(f.kept)-1] != '\n' {
		if len(f.kept) > lineLimit {
			f.state, x.kind = raw, rawPiece
		}
		return x, p[end:]
	}
	line := strings.TrimRight(string(f.kept), "\r\n")
	f.kept = f.kept[:0]
	switch f.state {
	case inChunkEnd:
		f.state = inChunkSize
		if line != "" {
			f.state, x.kind = raw, rawPiece
		}
	case inTrailer:
		if line == "" {
			f.state, x.last = inHead, true
			f.kept = nil
		}
	default:
		size, err := strconv.ParseUint(strings.TrimSpace(strings.SplitN(line, ";", 2)[0]), 16, 62)
		switch {
		case err != nil:
			f.state, x.kind = raw, rawPiece
		case size == 0:
			f.state = inTrailer
		default:
			f.state, f.left = inChunk, int64(size)
		}
	}
	return x, p[end:]
}

// giveUp relays everything from here on without looking at it.
func (f *framer) giveUp() piece {
	x := piece{kind: rawPiece, data: f.kept}
	f.kept, f.state = nil, raw
	return x
}
