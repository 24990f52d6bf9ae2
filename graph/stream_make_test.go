package graph

import (
	"strings"
	"testing"
)

func TestAnEventThatIsTooLargeIsSaidToBe(t *testing.T) {
	if b := string(tooLarge(maxEvent + 1)); !strings.Contains(b, `"LIMIT_EXCEEDED"`) || !strings.Contains(b, `"data":null`) {
		t.Error(b)
	}
}
