package bench_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

// TestMain runs the tests, unless it is one of the processes that a benchmark starts.
func TestMain(m *testing.M) {
	if act := roles[os.Getenv(roleVariable)]; act != nil {
		act()
		return
	}
	pgtest.Main(m)
}

// mill is Harbor Mill with more roles than anybody needs: each request has one to itself, so that none
// waits for another's lock.
type mill struct {
	t        testing.TB
	db       *pgtest.DB
	visitors []*visitor
	round    int
	last     int64 // number of the last proposal of the rounds before
}

// The roles that the requests of one target rename begin at its own number.
const (
	httpRoles, bareRoles, wireRoles = 1_000_000, 2_000_000, 3_000_000
	rolesEach                       = 1000
)

func newMill(t testing.TB, visitors int) *mill {
	t.Helper()
	m := &mill{t: t, db: pgtest.New(t)}
	for _, first := range []int{httpRoles, bareRoles, wireRoles} {
		m.exec(`INSERT INTO core.roles (id, site, name, description) SELECT i, 'harbor-mill', 'bench ' || i || ' r0000', 'One of many' FROM generate_series($1::bigint, $1::bigint + $2::bigint - 1) i`, first, rolesEach)
	}
	m.exec(`ANALYZE core.roles`)
	emails := []string{"maria@harbor.example", "paolo@harbor.example", "jonas@harbor.example", "aiko@harbor.example", "rosa@harbor.example"}
	for i := range visitors {
		m.visitors = append(m.visitors, signIn(t, m.db, emails[i%len(emails)]))
	}
	return m
}

// serve starts a server on the database that rehearses nothing, and connects the visitors to it; end stops it.
func (m *mill) serve(timersOff bool) (end func()) {
	m.t.Helper()
	return m.serveRehearsing(timersOff, "false")
}

// serveRehearsing is serve with a word of whether changes of roles are rehearsed.
func (m *mill) serveRehearsing(timersOff bool, rehearse string) (end func()) {
	m.t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		m.t.Fatal(err)
	}
	s, err := server.New(m.t.Context(), server.Config{OwnerURL: m.db.OwnerURL, Registry: bytes.Replace(yaml, []byte("rehearse: true"), []byte("rehearse: "+rehearse), 1), CookieName: "countersign",
		TimersOff: timersOff, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		m.t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler)
	for _, v := range m.visitors {
		v.connect(m.t, h.Listener.Addr().String())
	}
	return func() {
		for _, v := range m.visitors {
			_ = v.conn.Close()
		}
		h.Close()
		s.Close()
	}
}

func (m *mill) exec(statement string, args ...any) {
	m.t.Helper()
	if _, err := m.db.Owner.Exec(m.t.Context(), statement, args...); err != nil {
		m.t.Fatalf("%s: %v", statement, err)
	}
}

func (m *mill) number(query string, args ...any) (n int64) {
	m.t.Helper()
	if err := m.db.Owner.QueryRow(m.t.Context(), query, args...).Scan(&n); err != nil {
		m.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// word is this round's, in the names that it gives.
func (m *mill) word() string { return fmt.Sprintf("r%04d", m.round) }

// name is what a subject's role is to be called.
func (s subject) name() string { return fmt.Sprintf("bench %s %s", s.key, s.round) }

// toPropose gives subjects for the first roles from a number on, with salts and the versions that the roles
// have under them, and turns to the next round. The visitors take the subjects in turn.
func (m *mill) toPropose(first, count, visitors int) []subject {
	m.t.Helper()
	m.round++
	m.last = m.number(`SELECT coalesce(max(number), 0) FROM proposals`)
	salts := make([][]byte, count)
	for i := range salts {
		salts[i] = make([]byte, 16)
		_, _ = rand.Read(salts[i])
	}
	rows, err := m.db.Owner.Query(m.t.Context(), `SELECT encode(sha256(s.salt || convert_to((r.*)::text, 'UTF8')), 'hex')
		FROM unnest($2::bytea[]) WITH ORDINALITY AS s (salt, place) JOIN core.roles r ON r.id = $1::bigint + s.place - 1 ORDER BY s.place`, first, salts)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	var subjects []subject
	for rows.Next() {
		i := len(subjects)
		s := subject{visitor: m.visitors[i%visitors], proposal: id.NewProposal(), fingerprint: fmt.Sprintf("%x%x", salts[i], salts[i]), salt: salts[i], key: strconv.Itoa(first + i), round: m.word()}
		if err := rows.Scan(&s.version); err != nil {
			m.t.Fatal(err)
		}
		subjects = append(subjects, s)
	}
	if err := rows.Err(); err != nil || len(subjects) != count {
		m.t.Fatalf("%d of %d roles: %v", len(subjects), count, err)
	}
	return subjects
}

// toConfirm gives the subjects that were proposed in this round from a number on, as the database has them.
func (m *mill) toConfirm(first, visitors int) []subject {
	m.t.Helper()
	rows, err := m.db.Owner.Query(m.t.Context(), `SELECT p.id, p.fingerprint, p.salt, r.version, r.key FROM proposals p JOIN proposal_records r ON r.proposal_id = p.id
		WHERE p.number > $1 AND p.status = 'pending' ORDER BY p.number`, m.last)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	var subjects []subject
	for rows.Next() {
		s := subject{round: m.word()}
		if err := rows.Scan(&s.proposal, &s.fingerprint, &s.salt, &s.version, &s.key); err != nil {
			m.t.Fatal(err)
		}
		role, _ := strconv.Atoi(s.key)
		s.visitor = m.visitors[(role-first)%visitors]
		subjects = append(subjects, s)
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
	return subjects
}

// applied counts this round's proposals that say they were applied, and whose roles are called what they say.
func (m *mill) applied() int {
	m.t.Helper()
	return int(m.number(`SELECT count(*) FROM proposals p JOIN proposal_records r ON r.proposal_id = p.id JOIN core.roles o ON o.id = r.key::bigint
		WHERE p.number > $1 AND p.status = 'applied' AND p.outcome_record->>'name' = o.name AND o.name = 'bench ' || o.id || ' ' || $2`, m.last, m.word()))
}

func (m *mill) workspace() uuid.UUID {
	var u uuid.UUID
	if err := m.db.Owner.QueryRow(m.t.Context(), `SELECT id FROM workspaces WHERE slug = 'harbor-mill'`).Scan(&u); err != nil {
		m.t.Fatal(err)
	}
	return u
}

// record gives what a propose and a confirm send once connections are warm.
func (m *mill) record() (proposes, confirms *script) {
	m.t.Helper()
	w := listen(m.t, m.db.OwnerURL)
	undo := w.use(m.t, m.db.OwnerURL)
	defer m.serve(true)()
	undo()
	v, workspace := m.visitors[0], m.workspace()
	for i := range 3 {
		s := m.toPropose(wireRoles, 1, 1)[0]
		w.take()
		if err := v.send(v.proposing(s), `"PENDING"`); err != nil {
			m.t.Fatal(err)
		}
		proposed := w.take()
		s = m.toConfirm(wireRoles, 1)[0]
		if err := v.send(v.confirming(s), `"APPLIED"`); err != nil {
			m.t.Fatal(err)
		}
		if i == 2 {
			proposes, confirms = newScript(proposed, s, workspace), newScript(w.take(), s, workspace)
		}
	}
	return proposes, confirms
}
