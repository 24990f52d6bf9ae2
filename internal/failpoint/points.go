// Package failpoint names the steps at which a test makes the program fail, to see what a failure there leaves
// behind. A verb says its name with In, and each step is a Hit; a point is both: confirm/locked.
//
// Without the build tag failpoints In and Hit are empty functions that the compiler takes out, and a point can
// neither be armed nor be found in the program. With it, a point does what Arm gave it, in this process, or what
// the environment says, in one that is started: COUNTERSIGN_FAILPOINTS=confirm/locked=kill,reject/moved=error
// (error, panic, or kill, which is kill -9). Such a program is for tests and nothing else.
//
// On what is sent. A transaction of the gate is pipelined (see postgres.Tx): most statements wait for the next
// that answers something, and COMMIT goes with the last. So of the steps of a decision Locking is before anything
// was sent, Locked after the row is held and the facts are read, Written after the records are written, and
// Committing before the last exchange, COMMIT among it. Decided and Moved are in between, where a statement of our
// own tables is queued and nothing new was sent. Committed is after PostgreSQL has said so.
package failpoint

import "slices"

// Verb is what is being done.
type Verb string

// Step is how far it has come.
type Step string

// Point is a verb and a step of it: confirm/locked.
type Point string

// The verbs.
const (
	Confirm    Verb = "confirm"
	Approve    Verb = "approve"
	Disapprove Verb = "disapprove"
	Reject     Verb = "reject"
	Withdraw   Verb = "withdraw"
	Extend     Verb = "extend"
	Revisable  Verb = "revisable" // asking whether a proposal may be revised
	Revise     Verb = "revise"
	TakeBack   Verb = "takeback" // a token withdraws what it proposed
	CutShort   Verb = "cutshort" // the system withdraws what a turn proposed that did not end well
	CutMet     Verb = "cutmet"   // the same, by a decision that meets it
	Expire     Verb = "expire"
	Propose    Verb = "propose"
	Rehearse   Verb = "rehearse"
	Twin       Verb = "twin" // the same is open, and is answered
	Call       Verb = "call" // of a tool
	Turn       Verb = "turn"
	Feed       Verb = "feed"
)

// The steps.
const (
	Locking    Step = "locking"    // nothing was sent
	Locked     Step = "locked"     // the proposal is held, and what decides was read
	Decided    Step = "decided"    // the decision is inserted
	Written    Step = "written"    // the records are written
	Moved      Step = "moved"      // the status moves, with event, audit and tool-call rows
	Committing Step = "committing" // before COMMIT is sent
	Committed  Step = "committed"  // after it was answered, before anybody is told
	Telling    Step = "telling"    // before the feed is woken

	Drafting   Step = "drafting" // before the records are read
	Drafted    Step = "drafted"  // after that, and after they were rehearsed
	Stored     Step = "stored"   // the card is to be stored
	Rehearsing Step = "rehearsing"
	Rehearsed  Step = "rehearsed" // written and taken back
	Found      Step = "found"     // the open proposal of the same intent

	Recording Step = "recording" // before the row of a call
	Recorded  Step = "recorded"
	Finishing Step = "finishing" // before the row is ended
	Finished  Step = "finished"

	Starting Step = "starting" // before a turn and its message are written down
	Begun    Step = "begun"
	Answered Step = "answered" // by the model, and nothing of it is stored
	Ending   Step = "ending"   // before a turn is ended that did not go well
	Ended    Step = "ended"    // after it, before its proposals are withdrawn

	Sequencing Step = "sequencing" // before events get their positions, and their NOTIFY
	Sequenced  Step = "sequenced"  // after both have committed, before followers here are told
	Hearing    Step = "hearing"    // a NOTIFY has come, before followers here are told
)

var (
	deciding = []Step{Locking, Locked, Decided, Moved, Committing, Committed, Telling}
	applying = []Step{Locking, Locked, Decided, Written, Moved, Committing, Committed, Telling}
)

var steps = map[Verb][]Step{
	Confirm: applying, Approve: applying,
	Disapprove: deciding, Reject: deciding, Withdraw: deciding, Expire: deciding, Revise: deciding,
	Extend:    {Locking, Locked, Moved, Committing, Committed, Telling},
	Revisable: {Locking, Locked, Committing, Committed},
	TakeBack:  {Locking, Moved, Committing, Committed, Telling},
	CutShort:  {Locking, Committed, Telling},
	CutMet:    {Decided, Moved},
	Propose:   {Drafting, Drafted, Stored, Committing, Committed, Telling},
	Rehearse:  {Rehearsing, Rehearsed},
	Twin:      {Locking, Found, Committing, Committed},
	Call:      {Recording, Recorded, Finishing, Finished},
	Turn:      {Starting, Begun, Answered, Ending, Ended, Committing, Committed},
	Feed:      {Sequencing, Sequenced, Hearing},
}

// Points are all there are, in order.
func Points() []Point {
	var list []Point
	for verb, of := range steps {
		for _, step := range of {
			list = append(list, at(verb, step))
		}
	}
	slices.Sort(list)
	return list
}

func at(v Verb, s Step) Point { return Point(string(v) + "/" + string(s)) }
