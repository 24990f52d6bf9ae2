package graph

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

// errorsOf gives a JSON list of errors, each with its code.
func errorsOf(ctx context.Context, exec graphql.GraphExecutor, errs ...*gqlerror.Error) []byte {
	list, err := json.Marshal(exec.DispatchError(ctx, errs).Errors)
	if err != nil {
		return []byte(`[{"message":"Something went wrong on our side.","extensions":{"code":"INTERNAL"}}]`)
	}
	return list
}

func errorOf(ctx context.Context, exec graphql.GraphExecutor, err error) []byte {
	return errorsOf(ctx, exec, gqlerror.Wrap(known(err)))
}

// known gives the reasons of identity and of the feed's hub their codes and sentences.
func known(err error) error {
	reason := (*identity.Error)(nil)
	switch {
	case errors.As(err, &reason):
		return &problem{code: model.ErrorCode(reason.Code), message: reason.Message}
	case errors.Is(err, feed.ErrTooMany):
		return &problem{code: model.ErrorCodeRateLimited, message: "Too many streams are open with this credential."}
	}
	return err
}

var (
	errOneStream = &problem{code: model.ErrorCodeGraphqlValidationFailed, message: "Subscribe to proposalEvents, and to nothing beside it."}
	errNoReading = &problem{code: model.ErrorCodeForbidden, message: "This token has no scope to read."}
	errTooMany   = &problem{code: model.ErrorCodeLimitExceeded, message: "Too many operations are open on this connection."}
	errBroken    = &problem{code: model.ErrorCodeInternal, message: "Something went wrong on our side."}
	errNoStream  = &problem{code: model.ErrorCodeInvalidInput, message: "A subscription is not answered here."}
)
