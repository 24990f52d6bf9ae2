package pgtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
)

// session is one client's connection over a wire.
type session struct {
	wire           *Wire
	client, server net.Conn
	mute           atomic.Bool   // what the server says is no longer passed on
	answered       chan struct{} // closed when it has answered while mute
}

func (s *session) run() {
	s.answered = make(chan struct{})
	defer func() { _, _ = s.client.Close(), s.server.Close() }()
	from := bufio.NewReader(s.client)
	first, err := message(from, 0)
	if err != nil {
		return
	}
	ours := bytes.Contains(first, []byte("user\x00"+s.wire.login+"\x00"))
	if _, err := s.server.Write(first); err != nil {
		return
	}
	go s.answer()
	s.ask(from, ours)
}

// ask passes on what the client sends, exchange by exchange, up to the cut.
func (s *session) ask(from *bufio.Reader, ours bool) {
	var sent []byte
	for {
		one, err := message(from, 1)
		if err != nil {
			return
		}
		sent = append(sent, one...)
		if ends := one[0] == 'S' || one[0] == 'Q'; ends && ours {
			if cut := s.wire.due(sent); cut != nil {
				s.cut(cut, sent)
				return
			}
		} else if !ends && one[0] != 'p' && one[0] != 'X' {
			continue // up to the end of the exchange
		}
		if _, err := s.server.Write(sent); err != nil {
			return
		}
		sent = nil
	}
}

func (s *session) cut(c *cut, sent []byte) {
	if c.lost == Answer {
		s.mute.Store(true)
		_, _ = s.server.Write(sent)
		<-s.answered
	}
	if c.then != nil {
		c.then()
	}
	close(c.done)
	_, _ = s.client.Close(), s.server.Close()
}

// answer passes on what the server says; once mute, it only notes that the server has answered.
func (s *session) answer() {
	defer close(s.answered)
	from := bufio.NewReader(s.server)
	for {
		one, err := message(from, 1)
		if s.mute.Load() {
			if err != nil || one[0] == 'Z' {
				return
			}
			continue
		}
		if err == nil {
			_, err = s.client.Write(one)
		}
		if err != nil {
			_ = s.client.Close()
			return
		}
	}
}

// message reads one message of the protocol: a kind where there is one, a length, and the rest.
func message(from *bufio.Reader, kind int) ([]byte, error) {
	head := make([]byte, kind+4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	whole := make([]byte, kind+int(binary.BigEndian.Uint32(head[kind:])))
	copy(whole, head)
	_, err := io.ReadFull(from, whole[len(head):])
	return whole, err
}
