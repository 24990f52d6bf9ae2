package redact

import "strings"

// underSecretName is what is said in the place of a value whose name says that it is secret.
const underSecretName = "secret"

var (
	secretWords = []string{"password", "passwd", "passphrase", "passcode", "secretkey", "clientsecret", "apikey", "accesskey", "privatekey", "accesstoken", "authtoken", "refreshtoken", "sessiontoken", "bearertoken"}
	secretEnds  = []string{"secret", "secrets", "token", "authorization", "cookie", "credential", "credentials", "pwd"}
	secretNames = map[string]bool{"cvv": true, "cvv2": true, "cvc": true, "cvc2": true}
)

// isSecretName tells whether what has such a name is a secret, whatever it looks like.
func isSecretName(name string) bool {
	if len(name) > 100 {
		return false
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name))
	for _, word := range secretWords {
		if strings.Contains(plain, word) {
			return true
		}
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(plain, end) {
			return true
		}
	}
	return secretNames[plain]
}
