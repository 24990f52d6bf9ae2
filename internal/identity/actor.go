// Package identity says who is acting: it signs people in and out, keeps sessions and API tokens, and is
// the only place that makes a Person or an Agent.
package identity

import (
	"slices"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Scope is what an API token may be used for. A person has them all.
type Scope string

// The scopes there are. None of them writes and none decides.
const (
	ScopeRead      Scope = "read"
	ScopePropose   Scope = "propose"
	ScopeSubscribe Scope = "subscribe"
)

// Scopes are all there are.
var Scopes = []Scope{ScopeRead, ScopePropose, ScopeSubscribe}

// User is who someone is, without anything secret.
type User struct {
	ID    id.User
	Name  string
	Email string
}

// Workspace is the tenant someone acts in.
type Workspace struct {
	ID   id.Workspace
	Slug string
	Name string
}

// Actor is a Person or an Agent: whoever reads, proposes and asks. Only a Person decides, so what
// decides takes a Person and not an Actor.
type Actor interface {
	User() User
	Workspace() Workspace
	Role() sqlc.Role
	// SignIn is zero for an Agent, Token for a Person.
	SignIn() id.SignIn
	Token() id.Token
	// Address is where the request came from, for the audit trail.
	Address() string
	// ExpiresAt is when the credential ends; nil where it does not.
	ExpiresAt() *time.Time
	May(Scope) bool
	sealed()
}

type actor struct {
	user      User
	workspace Workspace
	role      sqlc.Role
	address   string
	expiresAt *time.Time
}

func (a actor) User() User            { return a.user }
func (a actor) Workspace() Workspace  { return a.workspace }
func (a actor) Role() sqlc.Role       { return a.role }
func (a actor) Address() string       { return a.address }
func (a actor) ExpiresAt() *time.Time { return a.expiresAt }
func (a actor) sealed()               {}

// Person is a user who is signed in now, acting in one workspace. It is made here, from a live sign-in,
// and nowhere else; the zero value is nobody.
type Person struct {
	actor
	signIn id.SignIn
}

// SignIn names the live sign-in that makes this a person.
func (p Person) SignIn() id.SignIn { return p.signIn }

// Token is zero: a person is no token.
func (p Person) Token() id.Token { return id.Token{} }

// May is true for every scope.
func (p Person) May(Scope) bool { return p.Live() }

// Live is false for the zero value.
func (p Person) Live() bool { return !p.signIn.IsZero() }

// Agent is an API token acting for its user. It has no way to decide.
type Agent struct {
	actor
	token  id.Token
	scopes []string
	name   string
}

// SignIn is zero: an agent is not signed in.
func (a Agent) SignIn() id.SignIn { return id.SignIn{} }

// Token names the API token.
func (a Agent) Token() id.Token { return a.token }

// Name is what the token was called when it was made.
func (a Agent) Name() string { return a.name }

// May tells whether the token has the scope.
func (a Agent) May(s Scope) bool { return slices.Contains(a.scopes, string(s)) }
