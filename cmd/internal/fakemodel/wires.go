package fakemodel

import (
	"cmp"
	"strings"
)

// Wire is what one model API has of its own.
type Wire struct {
	path  string // the end of the path of a request for a reply, in lower case
	voice func(request) voice
	refusal

	tools   int    // a question beside the conversation offers fewer
	naming  string // what a request for a title says, where it offers tools
	title   string // the answer to it
	reminds bool   // what the agent adds as a reminder is no news
}

// Messages is the wire of Claude Code 2.1.x: Anthropic's Messages API. In a turn Claude Code offers
// its model more than ten tools, and none or one when it asks for a title.
var Messages = Wire{path: "/v1/messages", tools: 3, title: `{"isNewTopic":false,"title":"Fake session"}`, reminds: true,
	voice: messages, refusal: anthropic}

// Responses is the wire of Codex 0.169.0: OpenAI's Responses API as a stream. A hidden thread names
// the session.
var Responses = Wire{path: "/responses", naming: "single-line task title", title: `{"title":"Fake session"}`,
	voice: responses, refusal: plan}

// Chat is the wire of OpenCode 1.18.33 and Qwen Code 0.24.4: OpenAI's chat completions as a stream.
var Chat = Wire{path: "/chat/completions", tools: 1, title: "Fake session", voice: chat, refusal: openAI}

// Gemini is the wire of Gemini CLI 0.61.0: Google's generateContent and streamGenerateContent.
var Gemini = Wire{path: "eneratecontent", tools: 1, title: "Fake answer", voice: gemini, refusal: google}

func messages(q request) voice {
	message := func(content []obj, stop any) obj {
		return obj{"id": id("msg"), "type": "message", "role": "assistant", "model": q.Model, "content": content,
			"stop_reason": stop, "stop_sequence": nil, "usage": obj{"input_tokens": 10, "output_tokens": 1}}
	}
	use := func(tool *Tool, input obj) obj {
		return obj{"type": "tool_use", "id": id("toolu"), "name": cmp.Or(tool.Name, "Bash"), "input": input}
	}
	start := func(n int, block obj) event {
		return typed("content_block_start", obj{"index": n, "content_block": block})
	}
	delta := func(n int, delta obj) event {
		return typed("content_block_delta", obj{"index": n, "delta": delta})
	}
	stop := func(n int) event { return typed("content_block_stop", obj{"index": n}) }
	return voice{
		begin: []event{typed("message_start", obj{"message": message([]obj{}, nil)})},
		ping:  []event{typed("ping", obj{})},
		open:  []event{start(0, obj{"type": "text", "text": ""})},
		delta: func(text string) event { return delta(0, obj{"type": "text_delta", "text": text}) },
		end: func(_ string, tool *Tool) []event {
			all, reason := []event{stop(0)}, "end_turn"
			if tool != nil {
				reason = "tool_use"
				input := obj{"type": "input_json_delta", "partial_json": marshal(tool.Arguments)}
				all = append(all, start(1, use(tool, obj{})), delta(1, input), stop(1))
			}
			how := obj{"stop_reason": reason, "stop_sequence": nil}
			return append(all, typed("message_delta", obj{"delta": how, "usage": obj{"output_tokens": 10}}), typed("message_stop", obj{}))
		},
		whole: func(text string, tool *Tool) obj {
			said := []obj{{"type": "text", "text": text}}
			if tool != nil {
				return message(append(said, use(tool, tool.Arguments)), "tool_use")
			}
			return message(said, "end_turn")
		},
	}
}

func responses(request) voice {
	id := id("resp")
	message := func(content ...obj) obj {
		return obj{"type": "message", "role": "assistant", "id": id + "_m", "content": append([]obj{}, content...)}
	}
	item := func(n int, item obj) event {
		return typed("response.output_item.done", obj{"output_index": n, "item": item})
	}
	return voice{
		begin: []event{typed("response.created", obj{"response": obj{"id": id}})},
		open:  []event{typed("response.output_item.added", obj{"output_index": 0, "item": message()})},
		delta: func(text string) event {
			return typed("response.output_text.delta", obj{"item_id": id + "_m", "output_index": 0, "content_index": 0, "delta": text})
		},
		end: func(text string, tool *Tool) []event {
			all := []event{item(0, message(obj{"type": "output_text", "text": text}))}
			if tool != nil {
				all = append(all, item(1, codexCall(tool)))
			}
			return append(all, typed("response.completed", obj{"response": obj{"id": id, "usage": obj{
				"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
				"input_tokens_details": obj{"cached_tokens": 0}, "output_tokens_details": obj{"reasoning_tokens": 0},
			}}}))
		},
	}
}

// codexCall calls a tool of Codex. A command that writes asks for more than the sandbox gives,
// which is what makes Codex ask its user.
func codexCall(tool *Tool) obj {
	call := obj{"type": "function_call", "id": id("fc"), "call_id": id("call"), "name": cmp.Or(tool.Name, "exec_command")}
	args := tool.Arguments
	if tool.Name != "" {
		call["namespace"] = tool.Namespace
	} else {
		command, _ := args["command"].(string)
		if args = (obj{"cmd": command, "yield_time_ms": 30000}); tool.Arguments["yield_time_ms"] != nil {
			args["yield_time_ms"] = tool.Arguments["yield_time_ms"]
		}
		if strings.HasPrefix(command, "touch ") {
			args["sandbox_permissions"], args["justification"] = "require_escalated", tool.Arguments["description"]
		}
	}
	call["arguments"] = marshal(args)
	return call
}

func chat(q request) voice {
	shell := "bash"
	if q.offers("run_shell_command") {
		shell = "run_shell_command"
	}
	chunk := obj{"id": id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}
	with := func(choices []obj, usage any) event {
		all := obj{"choices": choices, "usage": usage}
		for name, v := range chunk {
			all[name] = v
		}
		return event{data: all}
	}
	choice := func(delta obj, finish any) event {
		return with([]obj{{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	return voice{
		begin: []event{choice(obj{"role": "assistant", "content": ""}, nil)},
		delta: func(text string) event { return choice(obj{"content": text}, nil) },
		end: func(_ string, tool *Tool) (all []event) {
			finish := "stop"
			if tool != nil {
				finish = "tool_calls"
				f := obj{"name": cmp.Or(tool.Name, shell), "arguments": marshal(tool.Arguments)}
				all = append(all, choice(obj{"tool_calls": []obj{{"index": 0, "id": id("call"), "type": "function", "function": f}}}, nil))
			}
			usage := obj{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
			return append(all, choice(obj{}, finish), with([]obj{}, usage), event{data: "[DONE]"})
		},
	}
}

func gemini(request) voice {
	answer := func(part obj, finish string) obj {
		c := obj{"index": 0, "content": obj{"role": "model", "parts": []obj{part}}}
		if finish != "" {
			c["finishReason"] = finish
		}
		return obj{"candidates": []obj{c}, "modelVersion": "fake-model",
			"usageMetadata": obj{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}
	}
	last := func(text string, tool *Tool) obj {
		if tool == nil {
			return answer(obj{"text": text}, "STOP")
		}
		return answer(obj{"functionCall": obj{"name": cmp.Or(tool.Name, "run_shell_command"), "args": tool.Arguments}}, "STOP")
	}
	return voice{
		delta: func(text string) event { return event{data: answer(obj{"text": text}, "")} },
		end:   func(_ string, tool *Tool) []event { return []event{{data: last("", tool)}} },
		whole: last,
	}
}
