//go:build failpoints

package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/command"
	"github.com/countersign/countersign/internal/failpoint"
)

// serve is the program, whose failpoints are told by its input what to do:
//
//	arm POINT ACTION   the next time the point is passed: error, panic, kill; gone waits for the client to go away,
//	                   park until go, late does and then fails; hold is park for everyone who comes by
//	go                 whoever is held goes on
//	off                no point is armed
//
// It says "hit POINT" when an armed one was passed. It ends with its input.
func serve() int {
	traps := &traps{release: make(chan struct{})}
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			traps.obey(strings.Fields(lines.Text()))
		}
		os.Exit(0)
	}()
	return command.Run([]string{"serve"}, command.Terminal{In: strings.NewReader(""), Out: os.Stdout}, nil)
}

// longest is how long one is held whom nobody lets go.
const longest = 20 * time.Second

type traps struct {
	lock    sync.Mutex
	release chan struct{}
	disarm  []func()
}

func (s *traps) obey(words []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch {
	case len(words) == 3 && words[0] == "arm":
		s.arm(failpoint.Point(words[1]), words[2])
		say("armed")
		return
	case words[0] == "go":
		close(s.release)
		s.release = make(chan struct{})
	}
	for _, disarm := range s.disarm {
		disarm()
	}
	s.disarm = nil
	say("done")
}

func (s *traps) arm(p failpoint.Point, action string) {
	do, release := map[string]failpoint.Action{"error": failpoint.Fail, "panic": failpoint.Panic, "kill": failpoint.Kill, "gone": gone}[action], s.release
	switch action {
	case "park", "hold":
		do = func(context.Context) error { return held(release) }
	case "late":
		do = func(ctx context.Context) error { return errors.Join(held(release), failpoint.Fail(ctx)) }
	}
	first := sync.Once{}
	s.disarm = append(s.disarm, failpoint.Arm(p, func(ctx context.Context) (err error) {
		if action == "hold" {
			say("hit " + string(p))
			return do(ctx)
		}
		mine := false
		first.Do(func() { mine = true })
		if mine {
			say("hit " + string(p))
			err = do(ctx)
		}
		return err
	}))
}

func held(release chan struct{}) error {
	select {
	case <-release:
	case <-time.After(longest):
	}
	return nil
}

// gone waits until the client has gone away; not for long where the step's time is not the client's.
func gone(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(300 * time.Millisecond):
	}
	return nil
}

var saying sync.Mutex

func say(what string) {
	saying.Lock()
	defer saying.Unlock()
	_, _ = io.WriteString(os.Stdout, fmt.Sprintln(what))
}
