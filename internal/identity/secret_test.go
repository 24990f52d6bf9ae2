package identity_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
)

func TestASecretIsRecognisedOnlyAsItWasMade(t *testing.T) {
	owner := id.NewUser()
	secret := identity.NewSignInSecret(owner)
	if !identity.SignInSecretIsOf(owner, secret) {
		t.Fatalf("%s is not recognised", secret)
	}
	if identity.SignInSecretIsOf(id.NewUser(), secret) {
		t.Fatal("it is taken for somebody else's")
	}
	for i := range secret {
		other := byte('a')
		if secret[i] == other {
			other = 'b'
		}
		if mistyped := secret[:i] + string(other) + secret[i+1:]; identity.SignInSecretIsOf(owner, mistyped) {
			t.Errorf("character %d may be another", i)
		}
	}
	for _, text := range []string{"", "css_", secret[1:], secret[:len(secret)-1], secret + "0", "css_" + strings.Repeat("0", 71), identity.NewTokenSecret(owner),
		"css_" + strings.TrimPrefix(identity.NewTokenSecret(owner), "csa_")} {
		if identity.SignInSecretIsOf(owner, text) {
			t.Errorf("%q is recognised", text)
		}
	}
}

func TestNoTwoSecretsAreTheSame(t *testing.T) {
	owner := id.NewUser()
	if one, other := identity.NewSignInSecret(owner), identity.NewSignInSecret(owner); one == other {
		t.Fatal("two secrets are the same")
	}
}

func FuzzOwnerOf(f *testing.F) {
	owner := id.NewUser()
	f.Add(identity.NewSignInSecret(owner))
	f.Add("css_-" + strings.Repeat("z", 70))
	f.Fuzz(func(_ *testing.T, text string) { identity.SignInSecretIsOf(owner, text) })
}
