package bench_test

import (
	"errors"
	"syscall"
)

// poll tells which of many connections have something to read.
type poll struct {
	descriptor int
	events     []syscall.EpollEvent
}

func newPoll() (*poll, error) {
	descriptor, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	return &poll{descriptor: descriptor}, err
}

func (p *poll) add(descriptor int) error {
	return syscall.EpollCtl(p.descriptor, syscall.EPOLL_CTL_ADD, descriptor, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(descriptor)})
}

func (p *poll) remove(descriptor int) {
	_ = syscall.EpollCtl(p.descriptor, syscall.EPOLL_CTL_DEL, descriptor, nil) // closing it takes it out too
}

// wait waits until some have, and gives how many of them it put into ready.
func (p *poll) wait(ready []int) (int, error) {
	if p.events == nil {
		p.events = make([]syscall.EpollEvent, len(ready))
	}
	n, err := syscall.EpollWait(p.descriptor, p.events, -1)
	if errors.Is(err, syscall.EINTR) {
		return 0, nil
	}
	for i := range max(n, 0) {
		ready[i] = int(p.events[i].Fd)
	}
	return max(n, 0), err
}
