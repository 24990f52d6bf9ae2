package identity

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// Attempt is someone who wants to sign in.
type Attempt struct {
	Email     string
	Password  string
	Workspace string // a slug; may be empty with one membership
	Kind      sqlc.SignInKind
	Address   string
	UserAgent string
}

// SignedIn is a sign-in: who, where, until when.
type SignedIn struct {
	// Token is the bearer token, shown this once; empty for a cookie sign-in, and for one that was
	// there already.
	Token      string
	SignIn     id.SignIn
	ExpiresAt  time.Time
	User       User
	Workspace  Workspace
	Role       sqlc.Role
	Workspaces []Workspace // of which the user is a member
}

// SignIn checks a password and records a sign-in of its user in one workspace, which lasts for Lifetime.
// ErrWrongPassword is the answer whether the account is missing, disabled or another's, and takes the
// same work; TooManyAttempts comes before the password is looked at. With a right password the refusal
// may be about the workspace: ErrNotMember, ErrNoWorkspace, or INVALID_INPUT where there are several.
func (s *Service) SignIn(ctx context.Context, a Attempt) (*SignedIn, error) {
	email, err := normalEmail(a.Email)
	if err != nil {
		return nil, err
	}
	if a.Password == "" {
		return nil, invalid("password", "The password is missing.")
	}
	leave, err := s.waiting.enter(ctx, subject("account", email))
	if err != nil {
		return nil, err
	}
	defer leave()
	counted, err := s.count(ctx, email, a.Address)
	if err != nil {
		return nil, asUnavailable(err)
	}
	user, err := s.verify(ctx, email, a.Password)
	if err != nil {
		return nil, err
	}
	return s.admit(ctx, user, a, counted)
}

// admit records the sign-in of someone whose password was right, if there is a workspace for them. The
// attempt is forgiven in any case.
func (s *Service) admit(ctx context.Context, user User, a Attempt, counted *attempt) (*SignedIn, error) {
	list, err := s.Memberships(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	chosen, refusal := choose(list, a.Workspace)
	in := &SignedIn{SignIn: id.NewSignIn(), User: user, Workspace: chosen.Workspace, Role: chosen.Role, Workspaces: workspaces(list)}
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if err := s.forgive(ctx, tx, counted); err != nil || refusal != nil {
			return err
		}
		return s.record(ctx, tx, in, a)
	})
	switch {
	case err != nil:
		return nil, asUnavailable(err)
	case refusal != nil:
		return nil, refusal
	}
	return in, nil
}

// verify gives whose password this is.
func (s *Service) verify(ctx context.Context, email, password string) (User, error) {
	var hash *string
	account, err := s.queries.GetUserForSignIn(ctx, s.db, email)
	switch {
	case err == nil:
		hash = account.PasswordHash
	case !errors.Is(err, pgx.ErrNoRows):
		return User{}, unavailable(err)
	}
	right, err := s.passwords.matches(ctx, password, hash)
	if err != nil {
		return User{}, unavailable(err)
	}
	if !right {
		return User{}, ErrWrongPassword
	}
	return User{account.ID, account.Name, account.Email}, nil
}

func (s *Service) record(ctx context.Context, tx pgx.Tx, in *SignedIn, a Attempt) (err error) {
	row := sqlc.CreateSignInParams{
		ID: in.SignIn, UserID: in.User.ID, WorkspaceID: in.Workspace.ID, Kind: a.Kind,
		Address: a.Address, UserAgent: storable(redact.Text(a.UserAgent)), Lifetime: Lifetime,
	}
	if a.Kind == sqlc.SignInKindBearer {
		in.Token = newSecret(signInPrefix, in.User.ID)
		row.TokenHash = secretHash(in.Token)
	}
	if in.ExpiresAt, err = s.queries.CreateSignIn(ctx, tx, row); err != nil {
		return unavailable(err)
	}
	return nil
}

func workspaces(list []Membership) []Workspace {
	all := make([]Workspace, len(list))
	for i, one := range list {
		all[i] = one.Workspace
	}
	return all
}

var emailShape = regexp.MustCompile(`^[^@]+@[^@]+$`)

// normalEmail gives the address as it is stored.
func normalEmail(text string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(text))
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }
	if !emailShape.MatchString(email) || len(email) > 320 || strings.ContainsFunc(email, odd) {
		return "", invalid("email", "This is not an e-mail address.")
	}
	return email, nil
}

// storable makes text of what a client sent as a header: any bytes, and any number of them.
func storable(text string) string {
	if len(text) > 500 {
		text = text[:500]
	}
	return strings.ToValidUTF8(text, "")
}

// asUnavailable is for errors of a transaction itself: those that say more stay as they are.
func asUnavailable(err error) error {
	var refused *Error
	var slow *TooManyAttempts
	if errors.As(err, &refused) || errors.As(err, &slow) {
		return err
	}
	return unavailable(err)
}
