package gate

import (
	"fmt"
	"testing"
)

func TestATwinThatIsGoneIsTriedAgain(t *testing.T) {
	if !raced(fmt.Errorf("proposing: %w", errTwinGone)) || raced(nil) {
		t.Error("who met a twin that ended is not tried again")
	}
}
