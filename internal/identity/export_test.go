package identity

import (
	"context"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/alexedwards/scs/v2"

	"github.com/countersign/countersign/internal/id"
)

// What tests see of the inside.
var (
	PasswordCost = passwordCost
	Network      = network
)

const NobodysHash = nobodysHash

func CostOf(hash string) (*argon2id.Params, error) {
	cost, _, _, err := argon2id.DecodeHash(hash)
	return cost, err
}

func Matches(ctx context.Context, password string, hash *string) (bool, error) {
	return newVerifier().matches(ctx, password, hash)
}

func NewSignInSecret(owner id.User) string { return newSecret(signInPrefix, owner) }

func NewTokenSecret(owner id.User) string { return newSecret(tokenPrefix, owner) }

// SignInSecretIsOf tells whether the text is a sign-in's secret of this user.
func SignInSecretIsOf(owner id.User, text string) bool {
	got, ok := ownerOf(signInPrefix, text)
	return ok && got == owner.UUID()
}

// WaitAfter makes every wait after too many wrong passwords begin with this one.
func (s *Service) WaitAfter(account, address int32, first time.Duration) {
	s.byAccount = limit{free: account, first: first, longest: 1 << 20 * time.Second}
	s.byAddress = limit{free: address, first: first, longest: 1 << 20 * time.Second}
}

// Occupy takes every place in which a password is compared.
func (s *Service) Occupy() {
	for range cap(s.passwords) {
		s.passwords <- struct{}{}
	}
}

func (s *Service) SessionManager() *scs.SessionManager { return s.sessions }
