package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/identity"
)

// largestBody is how much of a body the JSON routes read.
const largestBody = 4 << 10

// readJSON reads a body that is one JSON object with these fields and no others. What is wrong with it is
// INVALID_INPUT, naming the field where there is one, and LIMIT_EXCEEDED where it is too large.
func readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &identity.Error{Code: "INVALID_INPUT", Message: "Send the body as application/json."}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, largestBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return jsonFailure(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return jsonFailure(err)
	}
	return nil
}

func jsonFailure(err error) error {
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return &identity.Error{Code: "LIMIT_EXCEEDED", Message: "The body is too large."}
	case errors.As(err, &kind) && kind.Field != "":
		return &identity.Error{Code: "INVALID_INPUT", Field: kind.Field, Message: "This field has another type."}
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		name := strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
		return &identity.Error{Code: "INVALID_INPUT", Field: name, Message: "There is no such field."}
	}
	return &identity.Error{Code: "INVALID_INPUT", Message: "The body is not one JSON object."}
}

// allow refuses the methods that a route does not have, naming those it has.
func allow(methods string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", methods)
		writeJSON(w, http.StatusMethodNotAllowed, map[string]failure{
			"error": {Code: "INVALID_INPUT", Message: "This route has other methods: " + methods + "."}})
	})
}
