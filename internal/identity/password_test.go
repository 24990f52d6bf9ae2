package identity_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/identity"
)

func TestWhichPasswordsAreTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		password string
		taken    bool
	}{
		{"harbor-mill", true}, {"12345678", true}, {"öäüßöäüß", true}, {strings.Repeat("a", 1024), true},
		{"", false}, {"1234567", false}, {"öäüß", false}, {strings.Repeat("a", 1025), false}, {"long enough \xff", false},
	} {
		hash, err := identity.HashPassword(c.password)
		var refused *identity.Error
		if c.taken != (err == nil) || !c.taken && (!errors.As(err, &refused) || refused.Field != "password" || hash != "") {
			t.Errorf("HashPassword(%.20q) = %q, %v", c.password, hash, err)
		}
	}
}

func TestAPasswordMatchesHoweverItsCharactersAreSpelled(t *testing.T) {
	t.Parallel()
	hash, err := identity.HashPassword("caff\u00e8 macchiato")
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"caff\u00e8 macchiato": true, "caffe\u0300 macchiato": true, "caffe macchiato": false, "": false} {
		if got, err := identity.Matches(t.Context(), password, &hash); err != nil || got != want {
			t.Errorf("%+q matches: %v, %v", password, got, err)
		}
	}
}

func TestNobodysHashCostsWhatEveryonesDoes(t *testing.T) {
	t.Parallel()
	cost, err := identity.CostOf(identity.NobodysHash)
	if err != nil || *cost != *identity.PasswordCost {
		t.Fatalf("it costs %+v, %v; everyone's %+v", cost, err, identity.PasswordCost)
	}
}

// No account is compared with nobody's hash: not only the waiting but the work is the same. The work is
// told from the memory it takes. Not parallel, so that nothing else takes any.
func TestNoAccountIsAsMuchWork(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if right, err := identity.Matches(t.Context(), "harbor-mill", nil); err != nil || right {
		t.Fatal(right, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took < uint64(identity.PasswordCost.Memory)*1024 {
		t.Fatalf("it took %d bytes", took)
	}
}
