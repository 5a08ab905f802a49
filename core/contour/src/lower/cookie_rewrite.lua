
function envoy_on_response(response_handle)
	local cookie_rewrite_rules = response_handle:filterContext():get("cookie_rewrite_rules")
	if cookie_rewrite_rules == nil then
		return
	end

	function rewrite_cookie(original)
		local original_len = string.len(original)
		local name_end = string.find(original, "=")
		if name_end == nil then
			return original
		end
		local name = string.sub(original, 1, name_end - 1)

		local attribute_overrides = cookie_rewrite_rules[name]
		if attribute_overrides == nil then
			return original
		end

		-- Find cookie value via ; or end of string
		local value_end = string.find(original, ";", name_end)
		-- Save position to use as iterator
		local iter = value_end
		if value_end == nil then
			-- Set to 0 since we have to subtract below if we did find a ;
			value_end = 0
			iter = original_len
		end
		iter = iter + 1
		local value = string.sub(original, name_end + 1, value_end - 1)

		-- Parse original attributes into table
		-- Keyed by attribute name, values are <name>=<value> or just <name>
		-- so we can easily rebuild, esp for attributes like 'Secure' that
		-- do not have a value
		local attributes = {}
		while iter < original_len do
			local attr_end = string.find(original, ";", iter)
			local new_iter = attr_end
			if attr_end == nil then
				-- Set to 0 since we have to subtract below if we did find a ;
				attr_end = 0
				new_iter = original_len
			end
			local attr_value = string.sub(original, iter + 1, attr_end - 1)
			-- Strip whitespace from front
			attr_value = string.gsub(attr_value, "^%s*(.-)$", "%1")

			-- Get attribute name
			local attr_name_end = string.find(attr_value, "=")
			if attr_name_end == nil then
				-- Set to 0 since we have to subtract below if we did find a =
				attr_name_end = 0
			end
			local attr_name = string.sub(attr_value, 1, attr_name_end - 1)

			attributes[attr_name] = attr_value

			iter = new_iter + 1
		end

		response_handle:logDebug(string.format("rewriting cookie %q", name))

		local path = attribute_overrides["Path"]
		if path ~= nil then
			attributes["Path"] = string.format("Path=%s", path)
		end
		local domain = attribute_overrides["Domain"]
		if domain ~= nil then
			attributes["Domain"] = string.format("Domain=%s", domain)
		end
		local sameSite = attribute_overrides["SameSite"]
		if sameSite ~= nil then
			attributes["SameSite"] = string.format("SameSite=%s", sameSite)
		end
		local secure = attribute_overrides["Secure"]
		if secure ~= nil then
			if secure then
				attributes["Secure"] = "Secure"
			else
				attributes["Secure"] = nil
			end
		end

		local rewritten = string.format("%s=%s", name, value)
		for k, v in next, attributes do
			if v then
				rewritten = string.format("%s; %s", rewritten, v)
			end
		end

		return rewritten
	end

	if response_handle:headers():get("set-cookie") then
		rewritten_cookies = {}
		for k, v in pairs(response_handle:headers()) do
			if k == "set-cookie" then
				table.insert(rewritten_cookies, rewrite_cookie(v))
			end
		end

		response_handle:headers():remove("set-cookie")
		for k, v in next, rewritten_cookies do
			response_handle:headers():add("set-cookie", v)
		end
	end
end
