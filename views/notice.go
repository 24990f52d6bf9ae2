package views

// Notice says what just happened. It travels in the address as a code, so that the words are always
// ours.
type Notice string

// The notices there are.
const (
	NoNotice  Notice = ""
	Confirmed Notice = "confirmed"
	Rejected  Notice = "rejected"
	Withdrew  Notice = "withdrawn"
	Extended  Notice = "extended"
	Decided   Notice = "decided-before"
	Outdated  Notice = "outdated"
	Lapsed    Notice = "lapsed"
	Switched  Notice = "switched"

	Approved    Notice = "approved"
	Disapproved Notice = "disapproved"
	Revised     Notice = "revised"
	Reverting   Notice = "reverting"
)

// Words are what a notice says; empty for a code that is none of ours.
func (n Notice) Words() string {
	switch n {
	case Confirmed:
		return "Your confirmation is recorded. Below is what came of it."
	case Rejected:
		return "You rejected it. Nothing was changed."
	case Withdrew:
		return "You withdrew it. Nothing was changed."
	case Extended:
		return "There is more time now."
	case Decided:
		return "It had been decided before you pressed the button. Below is how it ended."
	case Lapsed:
		return "Its time had run out before you pressed the button. Nothing was changed."
	case Outdated:
		return "The card is not the one you had on screen, so nothing was done. This is how it is now: please look at it again."
	case Approved:
		return "Your approval is recorded. Below is what came of it."
	case Disapproved:
		return "You disapproved it. Nothing was changed."
	case Revised:
		return "This is the new card, with your values. Nothing is changed until it is confirmed."
	case Reverting:
		return "This would undo it. Nothing is changed until it is confirmed."
	case Switched:
		return "You are in another workspace now."
	}
	return ""
}
