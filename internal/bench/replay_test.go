package bench_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
)

// subject is what one request is about and who makes it: all in which its statements differ from those of
// another request.
type subject struct {
	visitor     *visitor
	proposal    id.Proposal
	fingerprint string
	salt        []byte
	version     string
	key         string
	round       string
}

// words are a subject's values as they stand in parameters: in binary, as text, within JSON.
func (s subject) words() []string {
	both := func(u uuid.UUID) []string { return []string{string(u[:]), u.String()} }
	return slices.Concat(both(s.visitor.user), both(s.visitor.signIn), both(s.proposal.UUID()),
		[]string{string(s.visitor.tokenHash), s.fingerprint, string(s.salt), hex.EncodeToString(s.salt), s.version, s.key, s.round})
}

// script is what the server sent for one request, to be sent again for others.
type script struct {
	trips []trip
	about subject
	made  []uuid.UUID // ids that the server made for the request
	wish  []byte      // the digest of what it wants, by which the same wish is known again
}

// newScript keeps what was sent about a subject in a workspace.
func newScript(trips []trip, about subject, workspace uuid.UUID) *script {
	s := &script{trips: trips, about: about}
	known := []uuid.UUID{workspace, about.proposal.UUID(), about.visitor.user, about.visitor.signIn, uuid.UUID(about.salt)}
	for _, t := range trips {
		for _, one := range t.sent {
			for _, p := range one.params {
				u, err := uuid.FromBytes(p)
				if one.name() == "Propose" && len(p) == sha256.Size && string(p) != string(about.visitor.tokenHash) {
					s.wish = p
				}
				if err == nil && u.Version() == 7 && !slices.Contains(known, u) {
					known, s.made = append(known, u), append(s.made, u)
				}
			}
		}
	}
	return s
}

// onBehalf gives the statements for another subject, with ids of its own.
func (s *script) onBehalf(of subject) []trip {
	pairs := []string{}
	for i, word := range s.about.words() {
		pairs = append(pairs, word, of.words()[i])
	}
	for _, made := range s.made {
		fresh := uuid.Must(uuid.NewV7())
		pairs = append(pairs, string(made[:]), string(fresh[:]))
	}
	if s.wish != nil {
		another := sha256.Sum256([]byte(of.fingerprint))
		pairs = append(pairs, string(s.wish), string(another[:]))
	}
	replace := strings.NewReplacer(pairs...)
	trips := make([]trip, len(s.trips))
	for i, t := range s.trips {
		trips[i] = trip{login: t.login, sent: slices.Clone(t.sent)}
		for j, one := range t.sent {
			trips[i].sent[j].params = make([][]byte, len(one.params))
			for k, p := range one.params {
				if p != nil {
					trips[i].sent[j].params[k] = []byte(replace.Replace(string(p)))
				}
			}
		}
	}
	return trips
}

// loop sends statements over pools like the server's, and drops the answers.
type loop map[string]*pgxpool.Pool

func newLoop(b testing.TB, ownerURL string) loop {
	b.Helper()
	pools, err := postgres.OpenPools(b.Context(), ownerURL, func(string) string { return "" }, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pools.Close)
	return loop{"gate": pools.Gate, "agent": pools.Agent, "reader": pools.Reader, "identity": pools.Identity}
}

// send makes the round trips in their order, those of one login on one connection.
func (l loop) send(ctx context.Context, trips []trip) error {
	for len(trips) > 0 {
		n := 1
		for n < len(trips) && trips[n].login == trips[0].login {
			n++
		}
		if err := l.sendAs(ctx, trips[0].login, trips[:n]); err != nil {
			return err
		}
		trips = trips[n:]
	}
	return nil
}

func (l loop) sendAs(ctx context.Context, login string, trips []trip) error {
	conn, err := l[login].Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	for _, t := range trips {
		if err := t.send(ctx, conn.Conn().PgConn()); err != nil {
			return fmt.Errorf("%s, beginning with %s: %w", login, t.sent[0].name(), err)
		}
	}
	return nil
}

const preparedKey = "countersign.bench"

func (t trip) send(ctx context.Context, conn *pgconn.PgConn) error {
	if t.sent[0].simple {
		return conn.Exec(ctx, t.sent[0].sql).Close()
	}
	known, ok := conn.CustomData()[preparedKey].(map[string]string)
	if !ok {
		known = map[string]string{}
		conn.CustomData()[preparedKey] = known
	}
	pipeline := conn.StartPipeline(ctx)
	for _, s := range t.sent {
		if _, ok := known[s.sql]; !ok {
			known[s.sql] = fmt.Sprintf("bench_%d", len(known))
			pipeline.SendPrepare(known[s.sql], s.sql, nil)
		}
		pipeline.SendQueryPrepared(known[s.sql], s.params, s.formats, s.results)
	}
	if err := pipeline.Sync(); err != nil {
		return err
	}
	return drop(pipeline)
}

// drop reads all answers of a pipeline.
func drop(pipeline *pgconn.Pipeline) error {
	for {
		answer, err := pipeline.GetResults()
		if err != nil {
			_ = pipeline.Close()
			return err
		}
		switch a := answer.(type) {
		case *pgconn.PipelineSync:
			return pipeline.Close()
		case *pgconn.ResultReader:
			if _, err := a.Close(); err != nil {
				_ = pipeline.Close()
				return err
			}
		}
	}
}
