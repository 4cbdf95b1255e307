package routes

func Handle(header string) string {
	token, problem := Authenticate(header)
	if problem != nil {
		return "login first"
	}
	if Authorize(token, "buy") {
		return "ok"
	}
	return "denied"
}
