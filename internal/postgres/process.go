package postgres

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a running server program.
type process struct {
	command *exec.Cmd
	done    chan struct{} // closed when it has ended
	ended   error         // how; read after done
}

// launch starts a program and follows it to its end.
func launch(command *exec.Cmd) (*process, error) {
	p := &process{command: command, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The program is told when its parent dies, and its parent is this thread: keep it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			p.ended = command.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

func (p *process) id() int { return p.command.Process.Pid }

// stop asks the server to end its sessions and itself (SIGINT), and insists after a while.
func (p *process) stop() error {
	select {
	case <-p.done:
		return p.ended
	default:
	}
	_ = p.command.Process.Signal(syscall.SIGINT)
	select {
	case <-p.done:
		return p.ended
	case <-time.After(15 * time.Second):
	}
	_ = p.command.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.done:
		return errors.New("the database did not stop when asked and was made to")
	case <-time.After(5 * time.Second):
		_ = p.command.Process.Signal(os.Kill)
		<-p.done
		return errors.New("the database did not stop and was killed")
	}
}
