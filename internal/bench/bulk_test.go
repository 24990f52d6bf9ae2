package bench_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/server"
)

// bulkTarget is how much longer a record of a set may take than one of the same UPDATE by hand.
const bulkTarget = 2.0

var bulkSizes = []int{10, 1000, 10_000}

// BenchmarkBulk proposes and confirms one change of many records, and prints the time of a record beside that
// of the same conditional UPDATE by hand, as the host's role, in turns.
func BenchmarkBulk(b *testing.B) {
	m := newMill(b, 1)
	defer m.serveBulk()()
	m.exec(`INSERT INTO mrp.production_orders (site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date, notes)
		SELECT 'harbor-mill', 'B-' || i, CASE WHEN i <= 10 THEN 'bulk 10' WHEN i <= 1010 THEN 'bulk 1000' ELSE 'bulk 10000' END, 10, 'keg', 'released', 9, '2026-06-08', '2026-06-09', '2026-06-12', repeat('note ', 20) FROM generate_series(1, 11010) i`)
	m.exec(`ANALYZE mrp.production_orders`)
	fmt.Printf("\n\nOne change of many records, proposed and confirmed through GraphQL over HTTP, beside the same conditional UPDATE by hand.\nLoad %s; medians of %d in turns; µs a record.\n\n%8s %10s %10s %10s %8s %8s\n", load(), repeats, "records", "propose", "confirm", "by hand", "ratio", "target")
	for _, n := range bulkSizes {
		var proposes, confirms, hands []float64
		for round := range repeats {
			proposed, confirmed := m.bulk(n, 1+round%8)
			proposes, confirms, hands = append(proposes, proposed), append(confirms, confirmed), append(hands, m.byHand(n, 9))
		}
		ratio := middle(confirms) / middle(hands)
		fmt.Printf("%8d %10.1f %10.1f %10.1f %8.2f %8.1f\n", n, middle(proposes), middle(confirms), middle(hands), ratio, bulkTarget)
	}
	b.ReportMetric(0, "ns/op")
}

// bulk makes one change of n records, and gives the microseconds a record to propose and to confirm it.
func (m *mill) bulk(n, priority int) (proposed, confirmed float64) {
	m.t.Helper()
	v := m.visitors[0]
	began := time.Now()
	err := v.send(v.request(propose, map[string]any{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": map[string]any{"item": fmt.Sprintf("bulk %d", n)}, "changes": map[string]any{"priority": priority}}), `"PENDING"`)
	if err != nil {
		m.t.Fatal(err)
	}
	proposed = micros(began, n)
	var which id.Proposal
	var fingerprint string
	if err := m.db.Owner.QueryRow(m.t.Context(), `SELECT id, fingerprint FROM proposals ORDER BY number DESC LIMIT 1`).Scan(&which, &fingerprint); err != nil {
		m.t.Fatal(err)
	}
	confirming := v.request(confirm, map[string]any{"id": which.String(), "fingerprint": fingerprint})
	began = time.Now()
	if err := v.send(confirming, fmt.Sprintf(`"affectedRecords":%d`, n)); err != nil {
		m.t.Fatal(err)
	}
	return proposed, micros(began, n)
}

// byHand writes the same, as the role that the host's records are written as, each only where it is as it was.
func (m *mill) byHand(n, priority int) float64 {
	m.t.Helper()
	tx, err := m.db.Owner.Begin(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	var keys []int64
	var versions []string
	read := `SELECT array_agg(id ORDER BY id), array_agg(encode(sha256('sixteen bytes!!!'::bytea || convert_to((o.*)::text, 'UTF8')), 'hex') ORDER BY id) FROM mrp.production_orders o WHERE item = $1`
	if err := tx.QueryRow(m.t.Context(), read, fmt.Sprintf("bulk %d", n)).Scan(&keys, &versions); err != nil || len(keys) != n {
		m.t.Fatal(len(keys), err)
	}
	began := time.Now()
	tag, err := tx.Exec(m.t.Context(), `UPDATE mrp.production_orders t SET priority = $3 FROM unnest($1::bigint[], $2::text[]) AS w (id, version)
		WHERE t.id = w.id AND encode(sha256('sixteen bytes!!!'::bytea || convert_to((t.*)::text, 'UTF8')), 'hex') = w.version`, keys, versions, priority)
	if err != nil || tag.RowsAffected() != int64(n) {
		m.t.Fatal(tag, err)
	}
	if err := tx.Commit(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	return micros(began, n)
}

func micros(since time.Time, n int) float64 {
	return float64(time.Since(since).Microseconds()) / float64(n)
}

// serveBulk is serve with a registry that lets a set be as large as any.
func (m *mill) serveBulk() (end func()) {
	m.t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		m.t.Fatal(err)
	}
	s, err := server.New(m.t.Context(), server.Config{OwnerURL: m.db.OwnerURL, Registry: bytes.Replace(yaml, []byte("bulk_cap: 100 "), []byte("bulk_cap: 10000 "), 1), CookieName: "countersign", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		m.t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler)
	m.visitors[0].connect(m.t, h.Listener.Addr().String())
	return func() {
		_ = m.visitors[0].conn.Close()
		h.Close()
		s.Close()
	}
}
