package feed

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"
)

// What an outlet holds for one connection, how long one write of it may take, and how long the last ones
// may. Frames are shared by all who are told the same, so that what a slow follower holds is mostly counted
// and not kept.
const (
	outletLimit = 1 << 20
	readyLimit  = 64 << 10
	writeTime   = 10 * time.Second
	lastTime    = 20 * time.Second
)

// Why an outlet takes no more.
var (
	// ErrSlow says that the connection takes less than it is sent: more waits than an outlet holds.
	ErrSlow = errors.New("the follower reads too slowly")
	// ErrGone says that the connection has ended.
	ErrGone = errors.New("the follower has gone")
)

// Conn is a connection as an outlet uses it: a socket's, or an HTTP response's.
type Conn interface {
	Write(b []byte) (int, error)
	SetWriteDeadline(t time.Time) error
}

// Outlet writes to one connection, in order and whole, and holds up nobody: what the connection does not take
// at once is written by a goroutine that lives as long as something waits.
type Outlet struct {
	conn Conn
	raw  syscall.RawConn // nil where the connection cannot be asked what it takes at once
	end  func(clean bool)

	lock     sync.Mutex
	waiting  []part
	bytes    int
	begun    bool // part of the frame of the first that waits is written already
	draining bool
	ended    bool
	sent     time.Time
	room     chan struct{} // closed when there is room again; nil while nobody waits for it
}

// NewOutlet gives the outlet of a connection. Once, when everything is written after End (clean) or when the
// connection failed, end is called; it closes the connection.
func NewOutlet(conn Conn, end func(clean bool)) *Outlet {
	o := &Outlet{conn: conn, end: end, sent: time.Now()}
	if c, ok := conn.(syscall.Conn); ok {
		o.raw, _ = c.SyscallConn() // without it every write is a goroutine's
	}
	return o
}

// Frame is what goes over a connection in one piece: Open, Bytes and End, of which Bytes may be shared with other
// connections. At is the position of the event in it; zero for none.
type Frame struct {
	Open, Bytes, End []byte
	At               Position
}

func (f Frame) size() int { return len(f.Open) + len(f.Bytes) + len(f.End) }

// part is of a frame that waits; more where the next one is of the same.
type part struct {
	bytes []byte
	at    Position
	more  bool
}

// Send writes frames, or keeps them until they can be. ErrSlow where that would be more than an outlet holds, but
// for one frame where nothing waits: then nothing of them is sent. ErrGone where the connection has ended.
func (o *Outlet) Send(frames ...Frame) error {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.ended {
		return ErrGone
	}
	if len(frames) == 0 {
		return nil
	}
	size := 0
	for _, f := range frames {
		size += f.size()
	}
	if o.bytes+size > outletLimit && (o.bytes > 0 || len(frames) > 1) {
		return ErrSlow
	}
	o.sent = time.Now()
	return o.write(frames)
}

// write is called with the lock.
func (o *Outlet) write(frames []Frame) error {
	done := 0
	if !o.draining {
		n, err := o.attempt(frames)
		if err != nil {
			o.fail()
			return ErrGone
		}
		done = n
	}
	for _, f := range frames {
		done = o.keep(f, done)
	}
	if len(o.waiting) > 0 && !o.draining {
		o.draining = true
		go o.drain()
	}
	return nil
}

// attempt writes what the connection takes at once. What is several pieces is put together where nobody
// keeps it.
func (o *Outlet) attempt(frames []Frame) (int, error) {
	if first := frames[0]; len(frames) == 1 && len(first.Open)+len(first.End) == 0 || o.raw == nil {
		return attempt(o.raw, first.Bytes)
	}
	whole, _ := wholes.Get().(*[]byte)
	defer wholes.Put(whole)
	*whole = (*whole)[:0]
	for _, f := range frames {
		*whole = append(append(append(*whole, f.Open...), f.Bytes...), f.End...)
	}
	return attempt(o.raw, *whole)
}

var wholes = sync.Pool{New: func() any { return new([]byte) }}

// keep has the rest of a frame wait, of which so much is written; it gives how much of the next one is.
func (o *Outlet) keep(f Frame, done int) (left int) {
	if done >= f.size() {
		return done - f.size()
	}
	o.begun = o.begun || done > 0
	for _, b := range [][]byte{f.Open, f.Bytes, f.End} {
		n := min(done, len(b))
		done -= n
		if b = b[n:]; len(b) > 0 {
			o.waiting = append(o.waiting, part{b, f.At, true})
			o.bytes += len(b)
		}
	}
	o.waiting[len(o.waiting)-1].more = false
	return 0
}

// End sends a last frame in place of what waits, and ends the connection after it. last makes it, which may
// be empty; it is told the position before the first event that is not sent, where there is one. It is for
// the first call alone.
func (o *Outlet) End(last func(unsent *Position) []byte) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.ended {
		return
	}
	if b := last(o.discard()); len(b) > 0 {
		_ = o.write([]Frame{{Bytes: b}}) // where it fails the connection has ended anyway
	}
	if o.ended {
		return
	}
	o.ended = true
	o.makeRoom()
	_ = o.conn.SetWriteDeadline(time.Now().Add(lastTime))
	if !o.draining {
		go o.end(true) // the lock is held, and closing may wait
	}
}

// discard takes back what waits, but for half a frame.
func (o *Outlet) discard() (unsent *Position) {
	keep := 0
	for more := o.begun; more; keep++ {
		more = o.waiting[keep].more
	}
	for i := keep; i < len(o.waiting); i++ {
		if at := o.waiting[i].at - 1; at >= 0 && (unsent == nil || at < *unsent) {
			unsent = &at
		}
	}
	if len(o.waiting) > keep {
		clear(o.waiting[keep:])
		o.waiting = o.waiting[:keep]
	}
	return unsent
}

// Fail ends the connection without a word.
func (o *Outlet) Fail() {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.ended && !o.draining {
		return
	}
	o.fail()
}

// fail is called with the lock.
func (o *Outlet) fail() {
	o.waiting, o.bytes, o.ended, o.begun = nil, 0, true, false
	o.makeRoom()
	if !o.draining {
		go o.end(false)
		return
	}
	_ = o.conn.SetWriteDeadline(time.Now()) // drain calls end
}

// drain writes what waits.
func (o *Outlet) drain() {
	failed := false
	for {
		frame, ended := o.next(failed)
		if frame == nil {
			if ended {
				o.end(!failed)
			}
			return
		}
		_, err := o.conn.Write(frame)
		failed = err != nil
	}
}

// next takes the first of what waits. Where there is nothing the goroutine that asks has to end, and ended
// says that it closes the connection.
func (o *Outlet) next(failed bool) (frame []byte, ended bool) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.begun = false
	if failed {
		o.waiting, o.bytes, o.ended = nil, 0, true
		o.makeRoom()
	}
	if len(o.waiting) == 0 {
		o.waiting, o.draining = nil, false
		if !o.ended {
			_ = o.conn.SetWriteDeadline(time.Time{})
		}
		return nil, o.ended
	}
	frame, o.begun = o.waiting[0].bytes, o.waiting[0].more
	o.waiting[0], o.waiting = part{}, o.waiting[1:]
	if o.bytes -= len(frame); o.bytes <= readyLimit {
		o.makeRoom()
	}
	if !o.ended {
		_ = o.conn.SetWriteDeadline(time.Now().Add(writeTime))
	}
	return frame, o.ended
}

func (o *Outlet) makeRoom() {
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}

// Ready waits until little of what was sent waits: who catches up holds no more than that and a portion.
func (o *Outlet) Ready(ctx context.Context) error {
	for {
		o.lock.Lock()
		if o.ended {
			o.lock.Unlock()
			return ErrGone
		}
		if o.bytes <= readyLimit {
			o.lock.Unlock()
			return nil
		}
		if o.room == nil {
			o.room = make(chan struct{})
		}
		room := o.room
		o.lock.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Quiet tells for how long nothing was sent.
func (o *Outlet) Quiet() time.Duration {
	o.lock.Lock()
	defer o.lock.Unlock()
	return time.Since(o.sent)
}
