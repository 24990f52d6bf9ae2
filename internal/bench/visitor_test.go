package bench_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/pgtest"
)

const (
	propose = `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { __typename
		... on Proposal { id number status fingerprint headline entity operation channel expiresAt viewerActions }
		... on ProposalRefused { code message field } } } }`
	confirm = `mutation($in: DecideProposalInput!) { confirmProposal(input: $in) { result { __typename
		... on Proposal { id number status fingerprint resolvedAt outcome { recordId record affectedRecords } failure { code message field } viewerActions }
		... on AlreadyDecided { message } ... on CardOutdated { message } } } }`
)

// visitor is somebody who is signed in, with a connection to the server of their own.
type visitor struct {
	token     string
	tokenHash []byte
	signIn    uuid.UUID
	user      uuid.UUID
	conn      net.Conn
	reader    *bufio.Reader
}

func signIn(t testing.TB, db *pgtest.DB, email string) *visitor {
	t.Helper()
	v := &visitor{token: db.Bearer(t, email)}
	hash := sha256.Sum256([]byte(v.token))
	v.tokenHash = hash[:]
	if err := db.Owner.QueryRow(t.Context(), `SELECT id, user_id FROM sign_ins WHERE token_hash = $1`, v.tokenHash).Scan(&v.signIn, &v.user); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *visitor) connect(t testing.TB, address string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	v.conn, v.reader = conn, bufio.NewReader(conn)
}

// request is a whole request, made beforehand so that making it costs nothing while the clock runs.
func (v *visitor) request(document string, input map[string]any) []byte {
	body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"in": input}})
	if err != nil {
		panic(err) // strings in maps
	}
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "POST /graphql HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", v.conn.RemoteAddr(), v.token, len(body))
	b.Write(body)
	return b.Bytes()
}

func (v *visitor) proposing(s subject) []byte {
	return v.request(propose, map[string]any{"entity": "core.role", "operation": "UPDATE", "recordId": s.key, "changes": map[string]any{"name": s.name()}})
}

func (v *visitor) confirming(s subject) []byte {
	return v.request(confirm, map[string]any{"id": s.proposal, "fingerprint": s.fingerprint})
}

// patience is how long an answer is waited for.
const patience = 30 * time.Second

// send sends a request and wants this in the answer.
func (v *visitor) send(request []byte, want string) error {
	if err := v.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := v.conn.Write(request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(v.reader, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err == nil && !bytes.Contains(body, []byte(want)) {
		err = fmt.Errorf("%s, and no %s in %s", answer.Status, want, body)
	}
	return err
}
