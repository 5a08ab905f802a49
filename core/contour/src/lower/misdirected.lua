
function envoy_on_request(request_handle)
	local headers = request_handle:headers()
	local host = string.lower(headers:get(":authority"))
	local target = request_handle:streamInfo():requestedServerName()

	s, e = string.find(host, ":", 1, true)
	if s ~= nil then
		host = string.sub(host, 1, s - 1)
	end

	if host ~= target then
		request_handle:respond(
			{[":status"] = "421"},
			string.format("misdirected request to %%q", host)
		)
	end
end
	