package record

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// row is what PostgreSQL prints of one row; nil is NULL.
type row []*string

// failure is an error of the statement with that place in the exchange.
type failure struct {
	statement int
	cause     error
}

func (f *failure) Error() string { return f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

// exchange sends statements in one round trip and gives the rows of each. They are parsed one after the
// other, so that those behind an enter are parsed with the person's rights, which a batch of pgx would
// not do: it prepares them all beforehand, as the login. The error is a *failure.
func exchange(ctx context.Context, conn *pgx.Conn, statements []statement) (results [][]row, err error) {
	known := knownOn(conn)
	ctx, end := known.trace(ctx, conn, statements)
	defer func() { end(err) }()
	pipeline := conn.PgConn().StartPipeline(ctx)
	defer func() {
		if closed := pipeline.Close(); closed != nil && err == nil {
			err = &failure{statement: len(statements) - 1, cause: closed}
		}
	}()
	fresh := make([]string, len(statements))
	for i, s := range statements {
		fresh[i] = known.send(pipeline, s)
	}
	if err := pipeline.Sync(); err != nil {
		return nil, &failure{cause: err}
	}
	for i, s := range statements {
		rows, err := known.receive(pipeline, s, fresh[i])
		if err != nil {
			return nil, &failure{statement: i, cause: err}
		}
		results = append(results, rows)
	}
	return results, nil
}

// prepared are the statements that a connection has parsed, by their SQL.
type prepared struct {
	names    map[string]string
	made     int
	disabled bool // where prepared statements do not outlive a transaction, behind a pooler for example
	tracer   pgx.BatchTracer
	// wrote: rows of the host's may have been written on it that its counters still hold
	wrote bool
}

// maxPrepared bounds what a connection keeps; statements beyond are parsed each time.
const maxPrepared = 256

const preparedKey = "countersign.record"

func knownOn(conn *pgx.Conn) *prepared {
	data := conn.PgConn().CustomData()
	if p, ok := data[preparedKey].(*prepared); ok {
		return p
	}
	config := conn.Config()
	tracer, _ := config.Tracer.(pgx.BatchTracer)
	p := &prepared{names: map[string]string{}, tracer: tracer, disabled: config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement}
	data[preparedKey] = p
	return p
}

// send puts a statement on its way; the name where it is prepared now.
func (p *prepared) send(pipeline *pgconn.Pipeline, s statement) (fresh string) {
	values := make([][]byte, len(s.args))
	for i, a := range s.args {
		if a != nil {
			values[i] = []byte(*a)
		}
	}
	name, parsed := p.names[s.sql]
	if !parsed && !p.disabled && len(p.names) < maxPrepared {
		p.made++
		name = "record_" + strconv.Itoa(p.made)
		fresh = name
		pipeline.SendPrepare(name, s.sql, nil)
	}
	if name == "" {
		pipeline.SendQueryParams(s.sql, values, nil, nil, nil)
	} else {
		pipeline.SendQueryPrepared(name, values, nil, nil)
	}
	if s.synced {
		pipeline.SendPipelineSync()
	}
	return fresh
}

// receive reads a statement's rows, and remembers it where it was prepared.
func (p *prepared) receive(pipeline *pgconn.Pipeline, s statement, fresh string) ([]row, error) {
	if fresh != "" {
		if _, err := pipeline.GetResults(); err != nil {
			return nil, err
		}
		p.names[s.sql] = fresh
	}
	result, err := pipeline.GetResults()
	if err != nil {
		return nil, p.forgetful(err)
	}
	reader, ok := result.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("an answer of another kind: %T", result)
	}
	var rows []row
	for reader.NextRow() {
		rows = append(rows, copyRow(reader.Values()))
	}
	if _, err = reader.Close(); err == nil && s.synced {
		_, err = pipeline.GetResults()
	}
	return rows, err
}

const noSuchStatement = "26000"

// forgetful forgets what was prepared when the server did, so that the next try prepares it again.
func (p *prepared) forgetful(err error) error {
	if sqlState(err) == noSuchStatement {
		clear(p.names)
	}
	return err
}

func copyRow(values [][]byte) row {
	r := make(row, len(values))
	for i, v := range values {
		if v != nil {
			text := string(v)
			r[i] = &text
		}
	}
	return r
}
