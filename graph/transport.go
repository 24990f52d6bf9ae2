package graph

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/graph/model"
)

const (
	typeJSON     = "application/json"
	typeResponse = "application/graphql-response+json"
)

// overHTTP answers GET and POST as the GraphQL-over-HTTP draft says. It stands in for the library's own
// transports, which differ from the draft and echo a body they cannot read.
type overHTTP struct{}

func (overHTTP) Supports(r *http.Request) bool { return r.Header.Get("Upgrade") == "" }

func (overHTTP) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	media := negotiate(r.Header.Get("Accept"))
	if media == "" {
		http.Error(w, "not acceptable: this answers "+typeResponse+" and "+typeJSON, http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	params, refused := paramsOf(r)
	if refused != nil {
		refused.write(w, r, exec)
		return
	}
	oc, errs := exec.CreateOperationContext(r.Context(), params)
	if errs != nil {
		status := http.StatusOK
		if media == typeResponse {
			status = http.StatusBadRequest
		}
		writeErrors(w, status, exec.DispatchError(graphql.WithOperationContext(r.Context(), oc), errs))
		return
	}
	if refused := method(r, oc); refused != nil {
		refused.write(w, r, exec)
		return
	}
	next, ctx := exec.DispatchOperation(r.Context(), oc)
	_ = json.NewEncoder(w).Encode(next(ctx)) // the client went away
}

// refusal is a request that is no GraphQL operation this endpoint takes.
type refusal struct {
	status  int
	code    model.ErrorCode
	message string
}

func (f *refusal) write(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	if f.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, POST")
		if r.Method == http.MethodGet {
			w.Header().Set("Allow", "POST")
		}
	}
	err := &gqlerror.Error{Message: f.message, Extensions: map[string]any{"code": f.code}}
	writeErrors(w, f.status, exec.DispatchError(r.Context(), gqlerror.List{err}))
}

// writeErrors answers without `data`, since nothing was executed.
func writeErrors(w http.ResponseWriter, status int, response *graphql.Response) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Errors     gqlerror.List  `json:"errors"`
		Extensions map[string]any `json:"extensions,omitempty"`
	}{response.Errors, response.Extensions})
}

// method: a mutation is a POST, a subscription neither.
func method(r *http.Request, oc *graphql.OperationContext) *refusal {
	switch op := oc.Doc.Operations.ForName(oc.OperationName); {
	case op.Operation == ast.Subscription:
		return &refusal{http.StatusBadRequest, model.ErrorCodeInvalidInput, "A subscription is not answered here."}
	case r.Method == http.MethodGet && op.Operation != ast.Query:
		return &refusal{http.StatusMethodNotAllowed, model.ErrorCodeInvalidInput, "Send a mutation by POST."}
	}
	return nil
}

func paramsOf(r *http.Request) (*graphql.RawParams, *refusal) {
	p := &graphql.RawParams{Headers: r.Header}
	p.ReadTime.Start = graphql.Now()
	read := fromQuery
	switch r.Method {
	case http.MethodPost:
		read = fromBody
	case http.MethodGet:
	default:
		return nil, &refusal{http.StatusMethodNotAllowed, model.ErrorCodeInvalidInput, "Use GET or POST."}
	}
	if refused := read(r, p); refused != nil {
		return nil, refused
	}
	p.ReadTime.End = graphql.Now()
	switch {
	case p.Query == "":
		return nil, &refusal{http.StatusBadRequest, model.ErrorCodeInvalidInput, "query: missing."}
	case len(p.Query) > maxQuery:
		return nil, &refusal{http.StatusBadRequest, model.ErrorCodeLimitExceeded, "query: at most " + strconv.Itoa(maxQuery>>10) + " kB; values go into variables."}
	}
	return p, nil
}

func fromBody(r *http.Request, p *graphql.RawParams) *refusal {
	media, options, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := strings.ToLower(options["charset"]); err != nil || media != typeJSON || charset != "" && charset != "utf-8" {
		return &refusal{http.StatusUnsupportedMediaType, model.ErrorCodeInvalidInput, "Send application/json in UTF-8."}
	}
	err = decodeOne(r.Body, p)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return &refusal{http.StatusRequestEntityTooLarge, model.ErrorCodeLimitExceeded, "The body is larger than " + strconv.FormatInt(large.Limit>>10, 10) + " kB."}
	}
	if err != nil {
		return &refusal{http.StatusBadRequest, model.ErrorCodeInvalidInput, "The body is not a GraphQL request: a JSON object with query, operationName, variables."}
	}
	return nil
}

func fromQuery(r *http.Request, p *graphql.RawParams) *refusal {
	q := r.URL.Query()
	p.Query, p.OperationName = q.Get("query"), q.Get("operationName")
	for name, into := range map[string]any{"variables": &p.Variables, "extensions": &p.Extensions} {
		if s := q.Get(name); s != "" && decodeOne(strings.NewReader(s), into) != nil {
			return &refusal{http.StatusBadRequest, model.ErrorCodeInvalidInput, name + ": not a JSON object."}
		}
	}
	return nil
}

// decodeOne reads exactly one JSON value; numbers keep their digits.
func decodeOne(from io.Reader, into any) error {
	d := json.NewDecoder(from)
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		if err != nil {
			return err
		}
		return errors.New("more than one JSON value")
	}
	return nil
}

// negotiate picks the media type a client likes best; "" where it takes neither.
func negotiate(accept string) string {
	if accept == "" {
		return typeJSON
	}
	best, bestQ := "", 0.0
	for part := range strings.SplitSeq(accept, ",") {
		media, options, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		ours := ""
		switch media {
		case typeResponse:
			ours = typeResponse
		case typeJSON, "application/*", "*/*":
			ours = typeJSON
		}
		if q := quality(options["q"]); ours != "" && q > bestQ {
			best, bestQ = ours, q
		}
	}
	return best
}

func quality(q string) float64 {
	if q == "" {
		return 1
	}
	f, err := strconv.ParseFloat(q, 64)
	if err != nil {
		return 0
	}
	return f
}
