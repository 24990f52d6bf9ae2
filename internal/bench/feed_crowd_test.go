package bench_test

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Crowd is many followers in one process: it costs little beside what it follows, since one goroutine hears
// all of them and reads no more of what they are told than how much it is.
type Crowd struct {
	poll *poll

	lock  sync.Mutex
	moved *sync.Cond
	bands []*band
	at    map[int]*follower // by descriptor
}

// Band is followers who ask for the same, each with a hello of its own.
type Band struct {
	Address  string
	Hellos   []string // payloads of connection_init
	Document string
	Kept     int // of how many events it is kept when they came
}

type band struct {
	Band
	followers []*follower
	came      [][]int64 // by event, then by arrival
	told      int
	here      int // followers who are connected
	settled   int // followers whose wish the server has read
	failed    error
}

// beCrowd is the role of a crowd.
func beCrowd() {
	p, err := newPoll()
	if err != nil {
		panic(err)
	}
	c := &Crowd{poll: p, at: map[int]*follower{}}
	c.moved = sync.NewCond(&c.lock)
	go c.hear()
	answering(c)
}

// Join connects followers, and answers the band's number when all of them follow.
func (c *Crowd) Join(wanted Band, number *int) error {
	b := &band{Band: wanted, followers: make([]*follower, len(wanted.Hellos)), came: make([][]int64, wanted.Kept)}
	for i := range b.came {
		b.came[i] = make([]int64, 0, len(b.followers))
	}
	var joining sync.WaitGroup
	free, failed := make(chan struct{}, 32), make([]error, len(b.followers))
	for i := range b.followers {
		free <- struct{}{}
		joining.Go(func() {
			defer func() { <-free }()
			b.followers[i], failed[i] = c.connect(b, wanted.Hellos[i])
		})
	}
	joining.Wait()
	c.lock.Lock()
	c.bands = append(c.bands, b)
	*number = len(c.bands) - 1
	c.lock.Unlock()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return c.wait(*number, func(b *band) (bool, error) { return b.settled == len(b.followers), nil })
}

// Await is what a band is waited for: that each of its followers was told of so many events, and no more.
type Await struct{ Band, Events int }

// Told waits for that, and answers when the last of it came, in Unix nanoseconds.
func (c *Crowd) Told(a Await, last *int64) error {
	return c.wait(a.Band, func(b *band) (bool, error) {
		if b.told < a.Events*len(b.followers) {
			return false, nil
		}
		for i, f := range b.followers {
			if f.events != a.Events {
				return true, fmt.Errorf("follower %d was told of %d events, not of %d", i, f.events, a.Events)
			}
			*last = max(*last, f.last)
		}
		return true, nil
	})
}

// Leave closes a band's connections as the protocol has it, and answers when the server has closed them too.
func (c *Crowd) Leave(number int, _ *int) error {
	c.lock.Lock()
	for _, f := range c.bands[number].followers {
		f.leave()
	}
	c.lock.Unlock()
	return c.wait(number, func(b *band) (bool, error) { return b.here == 0, nil })
}

// Came answers when the events came that were to be kept, by event.
func (c *Crowd) Came(number int, came *[][]int64) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	*came = c.bands[number].came
	return nil
}

// wait waits until something is so of a band.
func (c *Crowd) wait(number int, so func(*band) (bool, error)) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	b, until := c.bands[number], time.Now().Add(2*patience)
	defer time.AfterFunc(2*patience, c.moved.Broadcast).Stop()
	for {
		if done, err := so(b); done || err != nil || b.failed != nil {
			return errors.Join(err, b.failed)
		}
		if time.Now().After(until) {
			return fmt.Errorf("of %d followers %d are there, and were told %d times in all", len(b.followers), b.here, b.told)
		}
		c.moved.Wait()
	}
}

// hear reads what followers are told, for ever.
func (c *Crowd) hear() {
	buffer, ready := make([]byte, 256<<10), make([]int, 512)
	for {
		n, err := c.poll.wait(ready)
		c.lock.Lock()
		for _, descriptor := range ready[:n] {
			if f := c.at[descriptor]; f != nil && !f.read(buffer) {
				c.poll.remove(descriptor)
				delete(c.at, descriptor)
				f.close()
			}
		}
		if err != nil {
			panic(err)
		}
		c.moved.Broadcast()
		c.lock.Unlock()
	}
}
