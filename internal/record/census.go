package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Effect is rows that were written beside those that were asked for.
type Effect struct {
	Table     string // schema.table; of a partition, the partitioned table
	Operation string // INSERT, UPDATE, DELETE
	Rows      int
}

// census counts the rows that a transaction writes in every table, by the counters of PostgreSQL's own
// statistics. Rows that a subtransaction wrote and took back are among them.
type census struct {
	// begun: the session has counted before
	begun bool
	// pooled: it may be another session each time
	pooled bool
	// few: there are not many tables
	few bool
}

// before makes the counters start at nothing: they are the session's, and go on from one transaction to the
// next until they are handed over, which is between two of them. Behind a pooler they are read twice instead.
func (c census) before() []statement {
	switch {
	case c.pooled:
		return []statement{begin, countEverything}
	case c.begun:
		return []statement{{sql: "SELECT " + handOver, synced: true}, begin}
	}
	return []statement{begin}
}

// handOver has the counters handed over when the transaction has ended.
const handOver = "pg_catalog.pg_stat_force_next_flush()"

var begin = statement{sql: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"}

// after reads the counters.
func (c census) after() statement {
	if c.few {
		return countEverything
	}
	return countLocked
}

// fewTables are looked through sooner than the locks of all sessions.
const fewTables = 64

// Writing locks a table until the end, so that few are looked at however many there are.
const (
	locked = `SELECT DISTINCT relation AS oid FROM pg_catalog.pg_locks
    WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'relation' AND mode = 'RowExclusiveLock'`
	everything = `SELECT oid FROM pg_catalog.pg_class WHERE oid >= 16384 AND relkind = 'r' AND pg_catalog.pg_stat_get_xact_tuples_inserted(oid)
    + pg_catalog.pg_stat_get_xact_tuples_updated(oid) + pg_catalog.pg_stat_get_xact_tuples_deleted(oid) > 0`
)

var (
	countLocked     = statement{sql: fmt.Sprintf(countersSQL, locked)}
	countEverything = statement{sql: fmt.Sprintf(countersSQL, everything)}
)

const countersSQL = `WITH RECURSIVE touched AS MATERIALIZED (%s),
family (oid, ancestor, depth) AS (
    SELECT oid, oid, 0 FROM touched
    UNION ALL SELECT f.oid, i.inhparent, f.depth + 1 FROM family AS f JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = f.ancestor
)
SELECT (SELECT pg_catalog.string_agg(f.ancestor::text, ' ') FROM family AS f WHERE f.oid = c.oid),
    (SELECT n.nspname || '.' || t.relname FROM family AS f JOIN pg_catalog.pg_class AS t ON t.oid = f.ancestor
        JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace WHERE f.oid = c.oid ORDER BY f.depth DESC LIMIT 1),
    c.oid::text, pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid)::text,
    pg_catalog.pg_stat_get_xact_tuples_updated(c.oid)::text, pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid)::text
FROM touched JOIN pg_catalog.pg_class AS c USING (oid)
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.relnamespace <> 'pg_catalog'::pg_catalog.regnamespace`

// The places of operations among counters.
const (
	inserted = iota
	updated
	deleted
)

var effectNames = [...]string{inserted: "INSERT", updated: "UPDATE", deleted: "DELETE"}

// counted is what was written in one table, which is no partitioned one.
type counted struct {
	oid    string
	family []string // it and the tables it is a part of
	table  string
	rows   [len(effectNames)]int
}

func readCounted(rows []row) ([]counted, error) {
	list := make([]counted, len(rows))
	for i, r := range rows {
		list[i] = counted{family: strings.Fields(text(r[0])), table: text(r[1]), oid: text(r[2])}
		for j := range list[i].rows {
			n, err := strconv.Atoi(text(r[3+j]))
			if err != nil {
				return nil, fmt.Errorf("count what was written: %w", err)
			}
			list[i].rows[j] = n
		}
	}
	return list, nil
}

// since takes off what the session had counted before.
func since(now, before []counted) []counted {
	for i := range now {
		for _, b := range before {
			if b.oid == now[i].oid {
				for j, n := range b.rows {
					now[i].rows[j] -= n
				}
			}
		}
	}
	return now
}

// effects reads what was written beside the writes, out of the results of all statements.
func (c census) effects(groups []group, results [][]row) ([]Effect, error) {
	before, after := []row(nil), results[len(results)-2]
	if c.pooled {
		before = results[1]
	}
	had, err := readCounted(before)
	if err != nil {
		return nil, err
	}
	list, err := readCounted(after)
	if err != nil {
		return nil, err
	}
	list = since(list, had)
	leaveOwn(list, groups)
	return sum(list), nil
}

// sum adds up what is left, by the names of the tables.
func sum(list []counted) []Effect {
	var found []Effect
	for _, c := range list {
		for op, rows := range c.rows {
			if rows > 0 {
				found = addEffect(found, Effect{Table: c.table, Operation: effectNames[op], Rows: rows})
			}
		}
	}
	slices.SortFunc(found, func(a, b Effect) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Operation, b.Operation))
	})
	return found
}

func addEffect(list []Effect, one Effect) []Effect {
	for i := range list {
		if list[i].Table == one.Table && list[i].Operation == one.Operation {
			list[i].Rows += one.Rows
			return list
		}
	}
	return append(list, one)
}
