package command

import (
	"fmt"
	"runtime/debug"
)

// version is set when a release is built: -ldflags "-X github.com/countersign/countersign/internal/command.version=1.2.3".
var version string

type versionCommand struct{}

// Run prints the version that was released, or the commit that was built.
func (versionCommand) Run(t Terminal) error {
	_, err := fmt.Fprintln(t.Out, "countersign", versionText())
	return err
}

func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return "built from " + setting.Value[:12]
		}
	}
	return "built from source"
}
