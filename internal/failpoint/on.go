//go:build failpoints

package failpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Action is what happens at an armed point. Its error is that of the step.
type Action func(context.Context) error

// ErrInjected is the error of Fail.
var ErrInjected = errors.New("a failpoint")

// What can happen without a test's doing.
var (
	Fail  Action = func(context.Context) error { return ErrInjected }
	Panic Action = func(context.Context) error { panic(ErrInjected) }
	Kill  Action = func(context.Context) error {
		return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), ErrInjected)
	}
)

var (
	lock  sync.Mutex
	armed = map[Point]Action{}
	known = Points()
)

type verbKey struct{}

// In says which verb the points below belong to.
func In(ctx context.Context, v Verb) context.Context { return context.WithValue(ctx, verbKey{}, v) }

// Hit passes a point: nothing happens, unless it is armed.
func Hit(ctx context.Context, s Step) error {
	verb, ok := ctx.Value(verbKey{}).(Verb)
	if !ok {
		return nil
	}
	if do := pass(at(verb, s)); do != nil {
		return do(ctx)
	}
	return nil
}

func pass(p Point) Action {
	if !slices.Contains(known, p) {
		panic(fmt.Sprintf("failpoint: %s is not in the list of points", p))
	}
	lock.Lock()
	defer lock.Unlock()
	return armed[p]
}

// Arm gives a point something to do, each time it is passed, until disarm is called.
func Arm(p Point, do Action) (disarm func()) {
	lock.Lock()
	defer lock.Unlock()
	armed[p] = do
	return func() {
		lock.Lock()
		defer lock.Unlock()
		delete(armed, p)
	}
}

const variable = "COUNTERSIGN_FAILPOINTS"

func init() {
	actions := map[string]Action{"error": Fail, "panic": Panic, "kill": Kill}
	for one := range strings.SplitSeq(os.Getenv(variable), ",") {
		point, what, _ := strings.Cut(one, "=")
		if do := actions[what]; do != nil && slices.Contains(known, Point(point)) {
			Arm(Point(point), do)
		} else if one != "" {
			panic(fmt.Sprintf("%s: %q is no point=error, point=panic or point=kill", variable, one))
		}
	}
}
