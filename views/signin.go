package views

// SignInPage is the form to sign in with, as it was filled in. Wrong says what was not accepted; Ended
// that a session was over; Next is the page to go to. AskWorkspace opens the field for the workspace.
type SignInPage struct {
	Email     string
	Workspace string
	Next      string
	Wrong     string
	Ended     bool

	AskWorkspace bool
}

func (p SignInPage) described() string {
	if p.Wrong == "" {
		return ""
	}
	return "wrong"
}
