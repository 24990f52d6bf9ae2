package graph

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/redact"
)

// problem is an error of this surface: a code of the contract and a sentence for people.
type problem struct {
	code    model.ErrorCode
	message string
	field   string
}

func (p *problem) Error() string { return p.message }

var (
	errPersonsOnly = &problem{code: model.ErrorCodeForbidden, message: "Only a person decides, in a session of their own. An API token cannot."}
	errNotFound    = &problem{code: model.ErrorCodeNotFound, message: "There is nothing with this id in this workspace."}
	errNoPropose   = &problem{code: model.ErrorCodeForbidden, message: "This token has no scope to propose."}
	errNotYours    = &problem{code: model.ErrorCodeForbidden, message: "You may not see this."}
)

var errNoRead = &gqlerror.Error{Message: "This token has no scope to read.", Extensions: map[string]any{"code": model.ErrorCodeForbidden}}

func invalid(field, message string) *problem {
	return &problem{code: model.ErrorCodeInvalidInput, message: message, field: field}
}

// presenter gives every top-level error its code, once. What it does not know is logged with its cause
// and answered without it.
func presenter(log *slog.Logger) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		shown := graphql.DefaultErrorPresenter(ctx, err)
		code, message, field := coded(err)
		if code == "" && refusedWhole(shown) {
			shown.Message = redact.Text(shown.Message) // it can repeat the request
			return shown
		}
		if code == "" {
			code, message = model.ErrorCodeInternal, "Something went wrong on our side."
		}
		out := &gqlerror.Error{Message: redact.Text(message), Path: shown.Path, Locations: shown.Locations, Extensions: map[string]any{"code": code}}
		if field != "" {
			out.Extensions["field"] = redact.Text(field)
		}
		if code == model.ErrorCodeInternal || code == model.ErrorCodeUnavailable {
			out.Extensions["requestId"] = logged(ctx, log, code, err)
		}
		return out
	}
}

// refusedWhole: the request was not taken, by the library's parser or validation, by our limits or the
// transport, whose errors are as they are to be shown.
func refusedWhole(e *gqlerror.Error) bool {
	code := e.Extensions["code"]
	_, ours := code.(model.ErrorCode)
	return ours || code == errcode.ParseFailed || code == errcode.ValidationFailed
}

// coded finds the code and the sentence of an error that has them.
func coded(err error) (code model.ErrorCode, message, field string) {
	own, decided, asked, typed := (*problem)(nil), (*gate.Error)(nil), (*assistant.Error)(nil), (*assistant.InputError)(nil)
	wide := (*graphql.NumberOverflowError)(nil)
	switch {
	case errors.As(err, &own):
		return own.code, own.message, own.field
	case errors.As(err, &decided):
		return model.ErrorCode(decided.Code), decided.Message, ""
	case errors.As(err, &asked):
		return model.ErrorCode(asked.Code), asked.Message, ""
	case errors.As(err, &typed):
		return model.ErrorCodeInvalidInput, typed.Message, typed.Field
	case errors.As(err, &wide):
		return model.ErrorCodeInvalidInput, "This number is too large.", argument(err)
	case errors.Is(err, id.ErrMalformed):
		return errNotFound.code, errNotFound.message, ""
	case errors.Is(err, feed.ErrInvalid):
		return model.ErrorCodeCursorInvalid, "This is not a cursor of the feed.", ""
	case errors.Is(err, feed.ErrExpired):
		return model.ErrorCodeCursorExpired, "What came after this cursor is not kept any more. Load anew, and follow from feedCursor.", ""
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || disconnected(err):
		return model.ErrorCodeUnavailable, "The database did not answer in time. Try again.", ""
	}
	return "", "", ""
}

// argument names what an error of reading the arguments is about.
func argument(err error) string {
	if e := (*gqlerror.Error)(nil); errors.As(err, &e) && len(e.Path) > 0 {
		if name, ok := e.Path[len(e.Path)-1].(ast.PathName); ok {
			return string(name)
		}
	}
	return ""
}

func disconnected(err error) bool {
	if pgconn.Timeout(err) {
		return true
	}
	failed, pg := (*pgconn.ConnectError)(nil), (*pgconn.PgError)(nil)
	return errors.As(err, &failed) || errors.As(err, &pg) && (pg.Code[:2] == "08" || pg.Code[:2] == "53" || pg.Code[:2] == "57")
}

// logged writes the cause under an id that the answer names.
func logged(ctx context.Context, log *slog.Logger, code model.ErrorCode, err error) string {
	request := rand.Text()[:12]
	sqlstate := ""
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		sqlstate = pg.Code
	}
	log.ErrorContext(ctx, "graphql", "request", request, "code", string(code), "path", graphql.GetPath(ctx).String(), "sqlstate", sqlstate, "cause", err)
	return request
}

// recovered turns a panic into an error that says nothing of it; the log has it.
func recovered(log *slog.Logger) graphql.RecoverFunc {
	return func(ctx context.Context, panicked any) error {
		log.ErrorContext(ctx, "panic in a resolver", "path", graphql.GetPath(ctx).String(), "panic", redact.Panic(panicked), "stack", string(debug.Stack()))
		return &problem{code: model.ErrorCodeInternal, message: "Something went wrong on our side."}
	}
}
