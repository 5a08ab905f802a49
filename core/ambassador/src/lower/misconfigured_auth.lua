
function envoy_on_request(request_handle)
   local path = request_handle:headers():get(':path')
   if path == '/ambassador/v0/check_alive' or path == '/ambassador/v0/check_ready'
   then
      -- TODO(lukeshu): Consider setting bypass_auth on the synthetic Mappings, rather than
      -- special-casing this here.  I can't really justify this special case, other than: "I'm in a
      -- rush and this makes KAT happy."
      return
   end
   request_handle:respond(
      {[":status"] = "500",
       ["content-type"] = "application/json"},
      '{\n'..
      '  "message": "the {{rkey}} AuthService is misconfigured; see the logs for more information",\n'..
      '  "request_id": "'..request_handle:headers():get('x-request-id')..'",\n'..
      '  "status_code": 500\n'..
      '}\n')
end
