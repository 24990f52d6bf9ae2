//go:build failpoints

package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// changeLog is written by triggers of the host's: the program does not know it. Every proposal of these tests
// proposes a value that no other does.
const changeLog = `
	CREATE TABLE public.change_log (entity text, key text, was text, became text);
	CREATE INDEX ON public.change_log (became);
	CREATE INDEX ON countersign.events (proposal_id);
	CREATE INDEX ON countersign.audit_events (proposal_id);
	CREATE INDEX ON countersign.tool_calls (proposal_id);
	CREATE INDEX ON countersign.proposal_records ((changes -> 0 -> 'to' ->> 'json'));
	GRANT SELECT ON public.change_log TO countersign_owner;
	CREATE FUNCTION public.log_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	BEGIN
		INSERT INTO public.change_log VALUES (TG_ARGV[0], NEW.id::text, to_jsonb(OLD) ->> TG_ARGV[1], to_jsonb(NEW) ->> TG_ARGV[1]);
		RETURN NULL;
	END $$;
	CREATE TRIGGER log_change AFTER UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.log_change('core.role', 'description');
	CREATE TRIGGER log_change AFTER UPDATE ON mrp.production_orders FOR EACH ROW EXECUTE FUNCTION public.log_change('mrp.production_order', 'notes')`

// never are what may not be in the database at any time, each with the rows that are.
var never = map[string]string{
	"final without its decision, or with more": `SELECT p.number, p.status FROM proposals p WHERE p.status NOT IN ('pending', 'awaiting_approval') AND 1 <>
		(SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.final AND d.kind = ANY (CASE p.status
			WHEN 'applied' THEN '{confirm,approve}' WHEN 'failed' THEN '{confirm,approve}' WHEN 'rejected' THEN '{reject}' WHEN 'disapproved' THEN '{disapprove}'
			WHEN 'expired' THEN '{expire}' WHEN 'withdrawn' THEN '{withdraw}' WHEN 'superseded' THEN '{supersede}' END::decision_kind[]))`,
	"final decision without its status": `SELECT p.number, p.status FROM proposals p JOIN proposal_decisions d ON d.proposal_id = p.id WHERE d.final AND p.status IN ('pending', 'awaiting_approval')`,
	"open with decisions it should not have": `SELECT p.number, p.status FROM proposals p WHERE p.status = 'pending' AND EXISTS (SELECT FROM proposal_decisions d WHERE d.proposal_id = p.id)
		OR p.status = 'awaiting_approval' AND 1 <> (SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.kind = 'confirm' AND NOT d.final)`,
	"applied, and the record does not show it once": `SELECT v.number, v.applied FROM (
		SELECT min(p.number) AS number, r.changes -> 0 -> 'to' ->> 'json' AS value, count(*) FILTER (WHERE p.status = 'applied') AS applied
		FROM proposals p JOIN proposal_records r ON r.proposal_id = p.id GROUP BY 2) v
		WHERE v.applied > 1 OR v.applied <> (SELECT count(*) FROM public.change_log c WHERE c.became = v.value)`,
	"applied to another record, or to another version than the card showed": `SELECT p.number, p.status FROM proposals p JOIN proposal_records r ON r.proposal_id = p.id
		JOIN public.change_log c ON c.became = r.changes -> 0 -> 'to' ->> 'json' WHERE p.status = 'applied' AND (c.entity, c.key, c.was) IS DISTINCT FROM (r.entity, r.key, r.changes -> 0 -> 'from' ->> 'json')`,
	"written, and nobody confirmed it": `SELECT c.entity, c.became FROM public.change_log c WHERE NOT EXISTS (
		SELECT FROM proposals AS p JOIN proposal_records r ON r.proposal_id = p.id WHERE p.status = 'applied' AND c.became = r.changes -> 0 -> 'to' ->> 'json')`,
	"a proposal without its call's row": `SELECT p.number, p.status FROM proposals p WHERE 1 <>
		(SELECT count(*) FROM tool_calls c WHERE c.id = p.tool_call_id AND c.status = 'succeeded' AND c.proposal_id = p.id)`,
	"decisions, and other rows of such calls": `SELECT p.number, p.status FROM proposals p
		WHERE (SELECT string_agg(d.kind::text, ' ' ORDER BY d.kind::text) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.kind <> 'expire') IS DISTINCT FROM
			(SELECT string_agg(c.tool, ' ' ORDER BY c.tool) FROM tool_calls c WHERE c.proposal_id = p.id AND c.tool = ANY ('{confirm,approve,reject,disapprove,withdraw,supersede}'))`,
	"extended, and other rows of such calls": `SELECT p.number, p.status FROM proposals p WHERE (p.extended_at IS NOT NULL)::int <> (SELECT count(*) FROM tool_calls c WHERE c.proposal_id = p.id AND c.tool = 'extend')`,
	"events that are not those of its status": `SELECT p.number, p.status FROM proposals p WHERE
		(SELECT count(*) FROM events e WHERE e.proposal_id = p.id AND e.type = 'proposed') <> 1
		OR (SELECT count(*) FROM events e WHERE e.proposal_id = p.id AND e.type = 'extended') <> (p.extended_at IS NOT NULL)::int
		OR (SELECT count(*) FROM events e WHERE e.proposal_id = p.id AND e.type = 'confirmed') <> (SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.kind = 'confirm' AND NOT d.final)
		OR (SELECT coalesce(string_agg(e.type || '=' || e.status, ' '), '') FROM events e WHERE e.proposal_id = p.id AND e.status NOT IN ('pending', 'awaiting_approval'))
			<> (CASE WHEN p.status IN ('pending', 'awaiting_approval') THEN '' ELSE p.status || '=' || p.status END)`,
	"a move without its audit entry": `SELECT p.number, p.status FROM proposals p WHERE p.status NOT IN ('pending', 'awaiting_approval')
		AND (SELECT count(*) FROM audit_events a WHERE a.proposal_id = p.id AND a.outcome = p.status::text AND a.verb <> 'extend') <> 1`,
	"running longer than its lease": `SELECT c.tool, c.started_at FROM tool_calls c WHERE c.status = 'started' AND c.started_at < clock_timestamp() - interval '60 s'
		UNION ALL SELECT 'turn', t.lease_until FROM turns t WHERE t.status = 'running' AND t.lease_until < clock_timestamp() - interval '25 s'`,
	"of a turn that ended well, and withdrawn by the system": `SELECT p.number, p.status FROM proposals p JOIN turns t ON t.id = p.turn_id JOIN proposal_decisions d ON d.proposal_id = p.id
		WHERE t.status = 'complete' AND d.kind = 'withdraw' AND d.person_id IS NULL AND d.token_id IS NULL`,
	"of a turn that did not end well, and confirmed after it": `SELECT p.number, p.status FROM proposals p JOIN turns t ON t.id = p.turn_id JOIN proposal_decisions d ON d.proposal_id = p.id
		WHERE t.status IN ('cut_short', 'failed') AND d.kind = 'confirm' AND d.at > t.finished_at + interval '1 s'`,
	"an event with two places": `SELECT f.event_id, count(*) FROM feed f GROUP BY 1 HAVING count(*) > 1`,
}

// soon are what is made good by whoever comes by, and so may not be for long.
var soon = map[string]string{
	"still running":                         `SELECT c.tool, c.started_at FROM tool_calls c WHERE c.status = 'started' UNION ALL SELECT 'turn', t.lease_until FROM turns t WHERE t.status = 'running'`,
	"an event without a place in the feed":  `SELECT e.id, e.type FROM events e WHERE NOT EXISTS (SELECT FROM feed f WHERE f.event_id = e.id)`,
	"lapsed, and not stored":                `SELECT p.number, p.status FROM proposals p WHERE p.status IN ('pending', 'awaiting_approval') AND p.expires_at <= clock_timestamp()`,
	"open, of a turn that did not end well": `SELECT p.number, p.status FROM proposals p JOIN turns t ON t.id = p.turn_id WHERE p.status IN ('pending', 'awaiting_approval') AND t.status IN ('cut_short', 'failed')`,
	"still queued for the feed":             `SELECT q.event_id, q.seq FROM feed_queue q`,
}

// found gives what of such there is, up to a few of each, of proposals after a number.
func found(ctx context.Context, owner *pgxpool.Pool, wrongs map[string]string, after int64) ([]string, error) {
	var list []string
	for what, query := range wrongs {
		query = strings.ReplaceAll(query, "FROM proposals p", fmt.Sprintf("FROM (SELECT * FROM proposals WHERE number > %d) p", after))
		var rows string
		err := owner.QueryRow(ctx, `SELECT coalesce(string_agg(x::text, ' '), '') FROM (`+query+` LIMIT 5) x`).Scan(&rows)
		if err != nil {
			return nil, err
		}
		if rows != "" {
			list = append(list, what+": "+rows)
		}
	}
	return list, nil
}

// settle lets the leases run out, ends and starts the servers, and waits until nothing is left to be made good.
func (w *world) settle() {
	w.t.Helper()
	w.superuser(`UPDATE countersign.turns SET lease_until = clock_timestamp() WHERE status = 'running'`)
	w.superuser(`UPDATE countersign.tool_calls SET started_at = started_at - interval '1 minute' WHERE status = 'started'`)
	for _, n := range w.nodes {
		n.kill()
		n.start()
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		left, err := found(w.t.Context(), w.db.Owner, soon, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("left for good: %s", left)
		}
	}
}

// invariants says what is in the database that may never be.
func (w *world) invariants(when string) (violations int) {
	w.t.Helper()
	return w.violations(when, 0)
}

// lately is the same of the newest proposals, those that are still decided on.
func (w *world) lately(when string) (violations int) {
	w.t.Helper()
	return w.violations(when, w.newest()-150)
}

func (w *world) violations(when string, after int64) int {
	w.t.Helper()
	list, err := found(w.t.Context(), w.db.Owner, never, after)
	for deadline := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		list, err = found(w.t.Context(), w.db.Owner, never, after) // the database was ended, and so was the session
	}
	if err != nil {
		w.t.Fatalf("%s: look for what may never be: %v", when, err)
	}
	for _, wrong := range list {
		w.wrong("%s: %s", when, wrong)
	}
	return len(list)
}

// wrong is a violation.
func (w *world) wrong(format string, about ...any) {
	w.t.Helper()
	tally.violations.Add(1)
	w.t.Errorf(format, about...)
}

func (w *world) newest() (number int64) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := w.db.Owner.QueryRow(w.t.Context(), `SELECT coalesce(max(number), 0) FROM proposals`).Scan(&number); err == nil {
			break
		}
	}
	return number
}
