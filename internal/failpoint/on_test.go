//go:build failpoints

package failpoint

import (
	"context"
	"errors"
	"testing"
)

func TestAnArmedPoint(t *testing.T) {
	ctx := In(t.Context(), Reject)
	disarm := Arm("reject/locked", Fail)
	if err := Hit(ctx, Locked); !errors.Is(err, ErrInjected) {
		t.Errorf("an armed point gives %v", err)
	}
	if err := errors.Join(Hit(ctx, Moved), Hit(In(ctx, Confirm), Locked), Hit(context.Background(), Locked)); err != nil {
		t.Errorf("others give %v", err)
	}
	disarm()
	if err := Hit(ctx, Locked); err != nil {
		t.Errorf("disarmed it gives %v", err)
	}
}

func TestAPointThatIsNotInTheListPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it does not")
		}
	}()
	_ = Hit(In(t.Context(), Reject), Written)
}
