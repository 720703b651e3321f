package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"time"
)

const (
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 10 * time.Second
)

// stream is one side of a relayed connection, plain or TLS.
type stream struct {
	net.Conn
	tcp *net.TCPConn
}

// closeWrite tells the other end that nothing more will come.
func (s stream) closeWrite() {
	if secure, ok := s.Conn.(*tls.Conn); ok {
		_ = secure.CloseWrite()
	}
	_ = s.tcp.CloseWrite()
}

// reset ends the connection so that the other end sees a reset.
func (s stream) reset() {
	_ = s.tcp.SetLinger(0)
	_ = s.tcp.Close()
}

// broken says whether the other end has answered with a reset to something that was written.
func (s stream) broken() bool {
	raw, err := s.tcp.SyscallConn()
	if err != nil {
		return true
	}
	pending := 0
	if err := raw.Control(func(fd uintptr) {
		pending, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
	}); err != nil {
		return true
	}
	return pending != 0
}

// upstream is where the extender is and how to speak to it.
type upstream struct {
	address string // to dial
	host    string // what a client without the tap would put into the Host header
	tls     *tls.Config
}

func newUpstream(target *url.URL, o options) (*upstream, error) {
	u := &upstream{address: target.Host, host: target.Host}
	if target.Port() == "" {
		u.address = net.JoinHostPort(target.Hostname(), map[string]string{"http": "80", "https": "443"}[target.Scheme])
	}
	if target.Scheme != "https" {
		return u, nil
	}
	name := o.serverName
	if name == "" {
		name = target.Hostname()
	}
	u.tls = &tls.Config{ServerName: name, InsecureSkipVerify: o.insecure, NextProtos: []string{"http/1.1"}}
	if o.upstreamCA != "" {
		text, err := os.ReadFile(o.upstreamCA)
		if err != nil {
			return nil, err
		}
		u.tls.RootCAs = x509.NewCertPool()
		if !u.tls.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: no certificate in PEM form found", o.upstreamCA)
		}
	}
	if o.upstreamCertificate != "" {
		pair, err := tls.LoadX509KeyPair(o.upstreamCertificate, o.upstreamKey)
		if err != nil {
			return nil, err
		}
		u.tls.Certificates = []tls.Certificate{pair}
	}
	return u, nil
}

// probe says whether the upstream takes connections now.
func (u *upstream) probe(limit time.Duration) error {
	connection, err := net.DialTimeout("tcp", u.address, limit)
	if err == nil {
		_ = connection.Close()
	}
	return err
}

// dial opens a connection. An error of the handshake comes with the open TCP connection: the upstream is there.
func (u *upstream) dial() (s stream, connected bool, err error) {
	connection, err := net.DialTimeout("tcp", u.address, dialTimeout)
	if err != nil {
		return stream{}, false, err
	}
	s = stream{connection, connection.(*net.TCPConn)}
	if u.tls == nil {
		return s, true, nil
	}
	secure := tls.Client(connection, u.tls)
	limited, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	if err := secure.HandshakeContext(limited); err != nil {
		_ = connection.Close()
		return s, true, err
	}
	s.Conn = secure
	return s, true, nil
}

// servingTLS returns how to serve TLS, nil without a certificate. HTTP/2 is not offered: its frames are not relayed.
func servingTLS(certificate, key string) (*tls.Config, error) {
	if certificate == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}, nil
}
