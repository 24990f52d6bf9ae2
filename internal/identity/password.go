package identity

import (
	"context"
	"fmt"
	"runtime"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"
)

// The shortest password, in characters, and the longest, in bytes.
const (
	shortestPassword = 8
	longestPassword  = 1024
)

// passwordCost is what one hash costs whoever has stolen the table, and the server at each sign-in.
var passwordCost = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// nobodysHash has the same cost as everyone's and fits no password: it is what a password is compared
// with where there is no account, so that the answer takes as long.
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$VgV+6566OMPIAWIqOUsfnA$vhVZPaX0iQHrRap3TodLKZHVwi1CqaXK5q362yCk0QU"

// HashPassword gives the argon2id hash to store. A password too short or too long is refused with
// INVALID_INPUT on "password".
func HashPassword(password string) (string, error) {
	if utf8.RuneCountInString(password) < shortestPassword || len(password) > longestPassword || !utf8.ValidString(password) {
		return "", invalid("password", fmt.Sprintf("The password must have at least %d characters and at most %d bytes.", shortestPassword, longestPassword))
	}
	hash, err := argon2id.CreateHash(normal(password), passwordCost)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}

// normal makes one password of all the ways keyboards and systems spell the same characters.
func normal(password string) string { return norm.NFKC.String(password) }

// verifier compares passwords with hashes, a few at a time: each comparison takes memory and a core.
type verifier chan struct{}

func newVerifier() verifier { return make(verifier, max(1, runtime.GOMAXPROCS(0))) }

// matches tells whether the password is the one of the hash. Without a hash it does the same work and
// says no. It waits its turn as long as ctx lives.
func (v verifier) matches(ctx context.Context, password string, hash *string) (bool, error) {
	select {
	case v <- struct{}{}:
		defer func() { <-v }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	against := nobodysHash
	if hash != nil {
		against = *hash
	}
	same, err := argon2id.ComparePasswordAndHash(normal(password), against)
	if err != nil {
		return false, fmt.Errorf("compare a password: %w", err)
	}
	return same && hash != nil, nil
}
