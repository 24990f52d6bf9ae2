package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
)

// status gives the HTTP status of an error code of the contract.
func status(code string) int {
	switch code {
	case "UNAUTHENTICATED":
		return http.StatusUnauthorized
	case "FORBIDDEN":
		return http.StatusForbidden
	case "NOT_FOUND":
		return http.StatusNotFound
	case "INVALID_INPUT", "CURSOR_INVALID":
		return http.StatusBadRequest
	case "IDEMPOTENCY_MISMATCH":
		return http.StatusConflict
	case "CURSOR_EXPIRED":
		return http.StatusGone
	case "LIMIT_EXCEEDED":
		return http.StatusRequestEntityTooLarge
	case "RATE_LIMITED":
		return http.StatusTooManyRequests
	case "UNAVAILABLE":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// failure is an error as clients of the JSON routes see it.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// failureOf gives what may be said about an error: what is not known to be sayable is INTERNAL.
func failureOf(err error) failure {
	var refused *identity.Error
	var slow *identity.TooManyAttempts
	switch {
	case errors.As(err, &slow):
		return failure{Code: "RATE_LIMITED", Message: slow.Error()}
	case errors.As(err, &refused):
		return failure{Code: refused.Code, Message: redact.Text(refused.Message), Field: refused.Field}
	}
	return failure{Code: "INTERNAL", Message: "Something went wrong here. It has been logged."}
}

// fail answers an error as JSON, {"error":{"code","message","field"}}, and logs those that are
// not the client's, nor come of its having gone.
func (a *Authenticator) fail(w http.ResponseWriter, r *http.Request, err error) {
	said := failureOf(err)
	code := status(said.Code)
	var slow *identity.TooManyAttempts
	if errors.As(err, &slow) {
		w.Header().Set("Retry-After", strconv.Itoa(slow.Seconds()))
	}
	if code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="countersign"`)
	}
	if code >= http.StatusInternalServerError && r.Context().Err() == nil {
		a.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	writeJSON(w, code, map[string]failure{"error": said})
}

// writeJSON answers what no cache may keep.
func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
