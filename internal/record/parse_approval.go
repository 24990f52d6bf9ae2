package record

import (
	"strconv"
	"strings"
	"time"
)

const (
	maxApprovals            = 9
	defaultApprovalLifetime = 7 * day
	maxApprovalLifetime     = 90 * day
	day                     = 24 * time.Hour
)

// approvers are the roles that can be asked to approve. An auditor decides nothing.
var approvers = []string{"APPROVER", "MEMBER", "OPERATOR"}

// none is what follows a confirm where the file asks for no approval. Should it come to ask for one while a
// proposal waits, this says whose.
func none() Approval {
	return Approval{Role: strings.ToLower(approvers[0]), Lifetime: defaultApprovalLifetime}
}

// approval reads how many approve, `approval: 2`, or that with whose and until when,
// `approval: {count: 2, role: APPROVER, lifetime: 7d}`; one approver, where it says no count.
func (m mapping) approval(key string) Approval {
	a := none()
	if n := m.values[key]; n == nil || n.kind != mappingNode && n.kind != nothingNode {
		a.Needed = int32(m.count(key, maxApprovals)) //nolint:gosec // at most maxApprovals
		return a
	}
	details := mappingOf(m.values[key], m.what+": "+key, m.problems, "count", "role", "lifetime")
	details.line = m.at(key)
	a.Needed = 1
	if details.has("count") {
		a.Needed = int32(details.count("count", maxApprovals)) //nolint:gosec // at most maxApprovals
	}
	a.Role = strings.ToLower(details.choice("role", approvers...))
	a.Lifetime = details.lifetime(a.Lifetime, maxApprovalLifetime, "7d")
	return a
}

// lifetime reads for how long something is open.
func (m mapping) lifetime(missing, longest time.Duration, example string) time.Duration {
	if !m.has("lifetime") {
		return missing
	}
	w := m.word("lifetime")
	d, err := parseDuration(w.text)
	if w.text != "" && (err != nil || d < time.Second || d > longest) {
		m.problems.say(w.line, "%s: lifetime has to be between 1s and %dd, e.g. %s, not %q", m.what, longest/day, example, w.text)
	}
	return d
}

// parseDuration reads 7d and 1d12h beside what Go writes. A day is 24 hours.
func parseDuration(text string) (time.Duration, error) {
	days, rest, has := strings.Cut(text, "d")
	if !has {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || rest == "" {
		return time.Duration(n) * day, err //nolint:gosec // 16 bits of days
	}
	more, err := time.ParseDuration(rest)
	return time.Duration(n)*day + more, err //nolint:gosec // 16 bits of days
}
