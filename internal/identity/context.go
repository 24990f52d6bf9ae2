package identity

import "context"

type (
	actorKey   struct{}
	refusalKey struct{}
)

// With gives a context in which From finds who is acting.
func With(ctx context.Context, who Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, who)
}

// From gives who is acting, nil for nobody.
func From(ctx context.Context) Actor {
	who, _ := ctx.Value(actorKey{}).(Actor)
	return who
}

// WithRefusal gives a context in which Who says why nobody is acting.
func WithRefusal(ctx context.Context, reason error) context.Context {
	return context.WithValue(ctx, refusalKey{}, reason)
}

// Who gives who is acting or, for surfaces to answer, why nobody is: ErrUnauthenticated, ErrNoWorkspace
// and the like. The zero Person and the zero Agent are nobody.
func Who(ctx context.Context) (Actor, error) {
	if who := From(ctx); Acts(who) {
		return who, nil
	}
	if reason, there := ctx.Value(refusalKey{}).(error); there {
		return nil, reason
	}
	return nil, ErrUnauthenticated
}

// Acts tells whether someone is a Person or an Agent that was made here. The zero values are nobody, and so is
// what only passes for an actor by having one inside.
func Acts(who Actor) bool {
	switch who := who.(type) {
	case Person:
		return who.Live()
	case Agent:
		return !who.token.IsZero()
	}
	return false
}
