package identity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/netip"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/sqlc"
)

// limit is how many wrong passwords are free, and how long one then waits for the next try: first, then
// twice as long each time, at most longest.
type limit struct {
	free           int32
	first, longest time.Duration
}

// attempt is a sign-in that has been counted as failed, until its password turns out to be right.
type attempt struct {
	account, address []byte
	countedAt        time.Time // in the count of the address
}

// count takes note of an attempt before its password is looked at, so that guesses sent all at once
// are slowed too. It refuses with TooManyAttempts, and counts nothing, while the account or the address
// has to wait.
func (s *Service) count(ctx context.Context, email, address string) (*attempt, error) {
	a := &attempt{account: subject("account", email), address: subject("address", network(address))}
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if err := s.mayTry(ctx, tx, a); err != nil {
			return err
		}
		if _, err := s.countOne(ctx, tx, a.account, s.byAccount); err != nil {
			return err
		}
		var err error
		a.countedAt, err = s.countOne(ctx, tx, a.address, s.byAddress)
		return err
	})
	return a, err
}

func (s *Service) mayTry(ctx context.Context, tx pgx.Tx, a *attempt) error {
	waits, err := s.queries.LockSignInAttempts(ctx, tx, [][]byte{a.account, a.address})
	if err != nil {
		return unavailable(err)
	}
	if wait := slices.Max(waits); wait > 0 {
		return &TooManyAttempts{RetryAfter: wait}
	}
	return nil
}

func (s *Service) countOne(ctx context.Context, tx pgx.Tx, subject []byte, l limit) (time.Time, error) {
	at, err := s.queries.CountSignInAttempt(ctx, tx, sqlc.CountSignInAttemptParams{
		Subject: subject, Free: l.free, First: l.first, Longest: l.longest})
	if err != nil {
		return at, unavailable(err)
	}
	return at, nil
}

// forgive says that the password was right: the account begins anew, the address gets back this one
// attempt. So nobody clears an address by signing in to an account of their own.
func (s *Service) forgive(ctx context.Context, tx pgx.Tx, a *attempt) error {
	// In the order in which attempts are locked.
	steps := []func() error{
		func() error { return s.queries.ClearSignInFailures(ctx, tx, a.account) },
		func() error {
			return s.queries.ForgiveSignInAttempt(ctx, tx, sqlc.ForgiveSignInAttemptParams{Subject: a.address, CountedAt: a.countedAt})
		},
	}
	if bytes.Compare(a.address, a.account) < 0 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

func subject(kind, text string) []byte {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return sum[:]
}

// network is what one customer of a provider has: an IPv4 address, or an IPv6 network of 64 bits.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.Prefix(64)
	return prefix.String()
}
