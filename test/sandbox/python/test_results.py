"""Tests the result of a node's code."""

import json
import textwrap
import unittest

from support import Sandbox

_MAIL = json.dumps({"status": "success", "context_updates": {"amount": 1}})


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(
            lib={"tools.py": "import json\ndef double(x):\n    return x * 2\ndef text(x): return json.dumps(x)\n"}
        )

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def run_code(self, code, context=(), **options):
        return self.sandbox.run(code, context, **options)

    def assert_changes(self, code, expected, context=(), deleted=(), logs=None):
        result = self.run_code(code, context)
        self.assertEqual(result["status"], "success", result)
        self.assertEqual([(key, json.loads(text)) for key, text in result["set"]], list(expected.items()))
        self.assertEqual(result["delete"], list(deleted))
        if logs is not None:
            self.assertEqual(result["logs"], logs)


class Changes(Results):
    def test_the_result_sets_the_keys_that_the_code_has_changed(self):
        context = {"a": "1", "list": "[1, {}]", "text": '"x"', "gone": "null"}
        for code, expected in [
            ("context['a'] = 2", {"a": 2}),
            ("context['new'] = {'x': [1, None]}", {"new": {"x": [1, None]}}),
            ("context['list'][1]['deep'] = 1", {"list": [1, {"deep": 1}]}),
            ("context.update(a=True, z=0)", {"a": True, "z": 0}),
            ("context['a'] = 1.0", {"a": 1.0}),
            ("for key in ('b', 'a', 'c'): context[key] = 0", {"a": 0, "b": 0, "c": 0}),
        ]:
            with self.subTest(code):
                self.assert_changes(code, expected, context)

    def test_the_result_does_not_set_keys_with_unchanged_values(self):
        context = {"a": "1", "n": "8.50e2", "s": '{ "x" :  [850.00, "\\u00e9"] }', "t": '"x"', "big": str(10**30)}
        for code in [
            "pass",
            "str(context)",
            "dict(context); json.dumps(context)",
            "context['a'] = 1; context['n'] = 850.0; context['t'] = 'x'; context['big'] = 10 ** 30",
            "context['s'] = {'x': [850.0, 'é']}",
            "context['s']['x'].append(1); context['s']['x'].pop()",
            "context['new'] = 1; del context['new']",
            "context = dict(context)",
            "context = json.loads(json.dumps(context)) if len(context) else {}",
            "context = json",
            "for context in ({'a': 1}, 5): pass",
        ]:
            with self.subTest(code):
                self.assert_changes(code, {}, context)

    def test_numbers_in_the_result_are_exact(self):
        result = self.run_code(
            "context['n'] = [2 ** 70, 850.0, 1e300]\ncontext['b'] = context['a'] + 1", {"a": "9007199254740993"}
        )
        self.assertEqual(result["set"], [["n", "[1180591620717411303424,850.0,1e+300]"], ["b", "9007199254740994"]])

    def test_changes_in_a_new_dict_with_the_name_context_fail_the_node_with_advice(self):
        for code in [
            "context = {'a': 5}",
            "context = {}",
            "context = {**context, 'b': 1}",
            "context = dict(context); context['a'] = [2]",
            "context = {key: context[key] for key in context if key != 'a'}",
        ]:
            with self.subTest(code):
                result = self.run_code(code, {"a": "[1]", "c": "1"})
                self.assertEqual((result["status"], result["traceback"]), ("error", ""))
                self.assertIn("is lost - write context.update({...})", result["message"])

    def test_a_new_dict_with_the_name_context_is_ignored_if_the_code_has_another_result(self):
        self.assert_changes("context['a'] = 1; context = {'b': 2}", {"a": 1})
        self.assert_changes("given = context; context = {'b': 2}; given.update(context)", {"b": 2})
        self.assert_changes("context = {'b': 2}; print(json.dumps(context))", {"b": 2})
        self.assert_changes("context = {'b': 2}; print(json.dumps({'context_updates': {}}))", {})

    def test_the_result_names_deleted_keys(self):
        self.assert_changes(
            "del context['a']; context.pop('b')", {}, {"a": "1", "b": "2", "c": "3"}, deleted=["a", "b"]
        )
        self.assert_changes("context.clear(); context['a'] = 2", {"a": 2}, {"a": "1", "b": "2"}, deleted=["b"])

    def test_the_result_can_have_100_000_keys(self):
        result = self.run_code(
            "for n in range(100_000): context[f'key{n}'] = n", {f"old{n}": "[1]" for n in range(1000)}
        )
        self.assertEqual(len(result["set"]), 100_000)
        self.assertEqual(result["set"][-1], ["key99999", "99999"])

    def test_a_result_that_cannot_be_stored_fails_the_node_with_an_explanation(self):
        for code, message in [
            ("context['x'] = float('nan')", 'context key "x": nan is not a JSON number'),
            (
                "import datetime; context['a'] = {'at': [datetime.datetime.now()]}",
                'context key "a.at[0]": datetime.datetime',
            ),
            ("context['f'] = open('/dev/null')", "store what x.read() returns"),
            ("context[1] = 1", "context has the key 1 of type int"),
            ("context['$blob'] = {'sha256': '0' * 64}", "context has the key '$blob' - such keys mark NOVA's references"),
            ("print(json.dumps({'context_updates': {'$a': 1}}))", "context has the key '$a'"),
            ("print(json.dumps({'context_updates': {'y': float('inf')}}))", 'context key "y": inf'),
        ]:
            with self.subTest(code):
                result = self.run_code(code)
                self.assertEqual((result["status"], result["class"], result["traceback"]), ("error", "NodeFailed", ""))
                self.assertIn(message, result["message"])


class Printed(Results):
    def test_printed_updates_override_changes_of_the_context(self):
        self.assert_changes(
            "context['a'] = context['b'] = 1\n"
            "print(json.dumps({'status': 'success', 'context_updates': {'b': 2, 'c': 3}}))",
            {"a": 1, "b": 2, "c": 3},
            logs="",
        )

    def test_the_last_printed_result_counts_and_the_other_output_is_in_the_log(self):
        code = """
        import sys
        for n in range(3):
            print(json.dumps({"status": "success", "context_updates": {"n": n}}))
        print("garbage } after the result")
        print(json.dumps([1]), json.dumps({"plain": 1}))
        sys.stdout.write("{}")
        """
        first = "".join(json.dumps({"status": "success", "context_updates": {"n": n}}) + "\n" for n in range(2))
        self.assert_changes(
            textwrap.dedent(code), {"n": 2}, logs=first + 'garbage } after the result\n[1] {"plain": 1}\n{}'
        )

    def test_a_result_counts_however_the_code_prints_its_json(self):
        value = "{'status': 'success', 'context_updates': {'x': 'é'}}"
        for code in [
            f"print(json.dumps({value}))",
            f"print(json.dumps({value}, ensure_ascii=False))",
            f"print(json.dumps({value}, indent=2))",
            f"import sys; json.dump({value}, sys.stdout)",
            f"import sys; sys.stdout.write(json.dumps({value}))",
            f"import sys; sys.stdout.write('log\\n' + json.dumps({value}) + '\\n')",
            f"from json import dumps as d; print('log', d({value}), sep='\\n')",
            f"print('  ' + json.dumps({value}) + '  ')",
            f"import tools; print(tools.text({value}))",
            f"print(json.dumps({value}), end='')",
        ]:
            with self.subTest(code):
                self.assert_changes(code, {"x": "é"})

    def test_a_printed_result_that_json_dumps_did_not_create_fails_a_node_without_another_result(self):
        value = "{'status': 'success', 'context_updates': {'x': 'é', 'n': None, 'b': True}}"
        for code in [
            f"print({value})",
            f"result = {value}\nprint(result)",
            f"result = {value}\nprint(f'{{result}}')",
            f"import pprint; pprint.pprint({value}, width=20)",
            f"print('log'); print(repr({value}), end='')",
            f"import sys; sys.stdout.write(str({value}))",
            """print('{"status": "success", "context_updates": {"x": 1}}')""",
            """print('{"status": "success", "context_updates": {"x": %s}}' % 1)""",
            f"import datetime; print({{'context_updates': {{'at': datetime.date.today()}}}})",
            f"print(json.dumps({value}).replace('null', '0'), flush=True)\nprint()",
            "print({'status': 'error', 'message': 'no total'})",
            f"for n in range(9000): print('x' * 100)\nprint({value})",
            f"print({value})\nprint('done')",
            f"import pprint; pprint.pprint({value}, width=20); print('done'); print({{'n': 1}})",
            """print('{\\n  "context_updates": {\\n    "x": 1\\n  }\\n}')\nprint('done')""",
        ]:
            with self.subTest(code):
                result = self.run_code(code)
                self.assertEqual((result["status"], result.get("class")), ("error", "NodeFailed"), result)
                self.assertIn("write print(json.dumps({...}))", result["message"])

    def test_the_log_reports_a_printed_result_that_does_not_count_if_the_code_changed_the_context(self):
        result = self.run_code("context['a'] = 1\nprint({'context_updates': {'x': 1}})")
        self.assertEqual(result["set"], [["a", "1"]])
        self.assertIn("nova: the code printed a result that does not count", result["logs"])
        printed_twice = "r = {'context_updates': {'x': 1}}\nprint(json.dumps(r))\nprint(r)"
        self.assert_changes(printed_twice, {"x": 1}, logs="{'context_updates': {'x': 1}}\n")
        self.assert_changes("r = {'context_updates': {}}\nprint(r)\nprint('done')", {})
        self.assert_changes("r = {'status': 'error', 'message': 'm'}\nprint(r)\nprint('tried again')", {})

    def test_printed_data_that_only_looks_like_a_result_stays_in_the_log(self):
        for code in [
            "print(context['mail'])",
            "print('Mail:\\n' + context['mail'])",
            "import os; os.write(1, context['mail'].encode())",
            "import subprocess; subprocess.run(['cat'], input=context['mail'], text=True)",
            "print(str(json.loads(context['mail'])).replace(\"'\", '\"'))",
            "print(json.dumps(context['mail']))",
            "print('x' + json.dumps(json.loads(context['mail'])))",
            "import sys; print(json.dumps(json.loads(context['mail'])), file=sys.stderr)",
        ]:
            with self.subTest(code):
                result = self.run_code(code, {"mail": json.dumps(_MAIL)})
                self.assertEqual((result["status"], result["set"]), ("success", []), result)
                self.assertIn("amount", result["logs"])

    def test_a_printed_plain_object_counts_only_if_there_is_no_other_result(self):
        for code, expected, context in [
            ("print(json.dumps({'a': 1})); print(json.dumps({'b': 2}))", {"b": 2}, {}),
            (
                "print(json.dumps({'b': 2})); print(json.dumps({})); print(json.dumps([])); print(json.dumps(None))",
                {"b": 2},
                {},
            ),
            ("context['a'] = 1; print(json.dumps({'b': 2}))", {"a": 1}, {}),
            ("print(json.dumps({'b': 2})); print(json.dumps({'context_updates': {'c': 3}}))", {"c": 3}, {}),
            ("print(json.dumps({**context, 'b': 2}))", {"b": 2}, {"a": "1", "l": "[1,  2]"}),
            ("print(json.dumps(context))", {}, {"a": "1"}),
            ("print(json.dumps({'status': 'fine'}))", {"status": "fine"}, {}),
        ]:
            with self.subTest(code):
                self.assert_changes(code, expected, context)

    def test_a_plain_object_that_does_not_count_is_in_the_log(self):
        self.assert_changes(
            "context['a'] = 1; print(json.dumps({'b': 2})); print('end')", {"a": 1}, logs='end\n{"b": 2}\n'
        )

    def test_the_result_sets_printed_updates_even_if_the_value_is_unchanged(self):
        self.assert_changes("print(json.dumps({'context_updates': {'a': 1}}))", {"a": 1}, {"a": "1"})

    def test_a_printed_update_sets_a_deleted_key_again(self):
        self.assert_changes("del context['a']; print(json.dumps({'context_updates': {'a': 3}}))", {"a": 3}, {"a": "1"})

    def test_a_printed_error_fails_the_node(self):
        for code, message in [
            (
                "print(json.dumps({'status': 'error', 'context_updates': {}, 'message': 'no total found'}))",
                "no total found",
            ),
            ("print(json.dumps({'status': 'error', 'message': 'no mail'})); context['a'] = 1", "no mail"),
            (
                "print(json.dumps({'status': 'error', 'context_updates': {}}))",
                "the code reported an error without a message",
            ),
        ]:
            with self.subTest(code):
                result = self.run_code(code)
                self.assertEqual(
                    (result["status"], result["class"], result["message"]), ("error", "NodeFailed", message)
                )

    def test_a_large_printed_value_becomes_a_blob_and_data_that_looks_like_a_reference_is_escaped(self):
        value = {"pdf": "A" * 10_000, "user": {"$blob": {"sha256": "0" * 64}}}
        changes = self.sandbox.changes(f"print(json.dumps({{'context_updates': {value!r}}}))")
        self.assertEqual(changes, {"pdf": "A" * 10_000, "user": {"$$blob": {"sha256": "0" * 64}}})


class Surroundings(Results):
    def test_code_can_use_the_names_and_modules_that_nova_provides(self):
        code = """
        from tools import double
        import os, sys
        context["a"] = [double(4), base64.b64encode(b"x").decode(), __name__, __file__, sys.argv]
        main = sys.modules["__main__"]
        context["b"] = [os.environ["NOVA_IDEMPOTENCY_KEY"], "SECRET" in os.environ, main.context is context]
        """
        expected = {"a": [8, "eA==", "__main__", "nodes/some.py", ["nodes/some.py"]], "b": ["k", False, True]}
        result = self.run_code(textwrap.dedent(code), environment={"NOVA_IDEMPOTENCY_KEY": "k"})
        self.assertEqual({key: json.loads(text) for key, text in result.get("set", [])}, expected, result)

    def test_code_under_the_main_guard_runs(self):
        self.assert_changes("def main():\n    context['a'] = 1\nif __name__ == '__main__':\n    main()", {"a": 1})

    def test_threads_finish_before_the_result_is_taken(self):
        code = """
        import threading
        begun = threading.Event()
        def work():
            begun.wait()
            context["a"] = 1
        threading.Thread(target=work).start()
        threading.Timer(0.05, begun.set).start()
        """
        self.assert_changes(textwrap.dedent(code), {"a": 1})

    def test_a_node_finds_no_variables_of_an_earlier_node(self):
        self.assert_changes(
            "import sys, os; sys.leftover = x = 1; os.environ['LEFT'] = '1'; open('/tmp/left', 'w').close()", {}
        )
        self.assert_changes(
            "import sys, os; context['a'] = [hasattr(sys, 'leftover'), 'x' in globals(), 'LEFT' in os.environ]",
            {"a": [False] * 3},
        )

    def test_random_numbers_differ_between_nodes(self):
        code = "import random; context['r'] = random.random()"
        self.assertNotEqual(self.run_code(code)["set"], self.run_code(code)["set"])

    def test_code_reads_the_result_of_an_earlier_node_by_the_id_of_the_node(self):
        self.sandbox.outputs = {
            "extract": json.dumps(
                {"total": 5, "pdf": {"$blob": json.loads(self.sandbox.keep(b"%PDF", "bytes"))["$blob"]}}
            )
        }
        code = """
        extract = outputs["extract"]
        context["a"] = [extract["total"], len(extract["pdf"]), list(outputs), "none" in outputs, len(outputs)]
        try:
            outputs["none"]
        except KeyError as error:
            context["b"] = str(error)
        """
        self.assert_changes(textwrap.dedent(code), {"a": [5, 4, ["extract"], False, 1], "b": "'none'"})

    def test_code_reads_the_results_of_earlier_nodes_by_node_and_by_key(self):
        pdf = {"$blob": json.loads(self.sandbox.keep(b"%PDF", "bytes"))["$blob"]}
        self.sandbox.outputs = {"a": json.dumps({"total": 1, "pdf": pdf}), "b": json.dumps({"total": 2})}
        code = """
        context["get"] = [outputs.get("a", "total"), outputs.get("a")["total"], outputs.get("a", "x"), outputs.get("c", "x")]
        context["default"] = [outputs.get("c"), outputs.get("c", {}), outputs.get("c", "x", 0), outputs.get("a", "x", 0)]
        context["node"] = [outputs.get_node_output("a", "total"), outputs.get_node_output("a")["total"], outputs.get_node_output("c"), outputs.get_node_output("a", "x", 7)]
        context["first"] = [outputs.get_by_key("total"), outputs.get_by_key("none"), len(outputs.get_by_key("pdf"))]
        flat, every = outputs.get_flattened(), outputs.get_all_data()
        context["all"] = [flat["total"], len(flat["pdf"]), sorted(every), every["a:total"], len(every["a:pdf"])]
        """
        expected = {
            "get": [1, 1, None, None],
            "default": [None, {}, 0, 0],
            "node": [1, 1, None, 7],
            "first": [1, None, 4],
            "all": [2, 4, ["a:pdf", "a:total", "b:total"], 1, 4],
        }
        self.assert_changes(textwrap.dedent(code), expected)

    def test_code_can_read_the_resume_link_of_a_later_wait(self):
        self.sandbox.urls = {"paid": "https://nova.example.com/tasks/task_1?token=t"}
        code = """
        context["url"] = tasks["paid"].url
        try:
            tasks["none"]
        except KeyError as error:
            context["why"] = str(error)
        """
        why = "'none: no node of this branch, or around it, waits for an event under this name'"
        self.assert_changes(textwrap.dedent(code), {"url": "https://nova.example.com/tasks/task_1?token=t", "why": why})


class Values(Results):
    def test_large_values_are_stored_in_blobs_and_later_code_loads_them_unchanged(self):
        code = "context['x'] = {'b': b'\\x00\\xff', 't': 'é' * 5000, 'list': list(range(5000)), 's': 'short'}"
        result = self.run_code(code)
        expected = {"b": b"\x00\xff", "t": "é" * 5000, "list": list(range(5000)), "s": "short"}
        self.assertEqual(self.sandbox.value(result, json.loads(result["set"][0][1])), expected)
        again = self.sandbox.changes(
            "context['same'] = [context['x']['b'] == b'\\x00\\xff', context['x']['list'][-1], len(context['x']['t'])]",
            dict(result["set"]),
        )
        self.assertEqual(again, {"same": [True, 4999, 5000]})

    def test_a_blob_that_is_already_in_the_sandbox_is_not_requested(self):
        result = self.run_code("context['x'] = b'abc' * 1000")
        self.sandbox.served.clear()
        self.assertEqual(self.sandbox.changes("context['n'] = len(context['x'])", dict(result["set"])), {"n": 3000})
        self.assertEqual(self.sandbox.served, [])

    def test_a_blob_is_requested_once_and_only_when_the_code_reads_its_value(self):
        context = {"a": self.sandbox.keep(b"first" * 999, "bytes"), "b": self.sandbox.keep(b'{"c": [1.50]}', "json")}
        self.sandbox.served.clear()
        self.assertEqual(self.sandbox.changes("context['n'] = 1", context), {"n": 1})
        self.assertEqual(self.sandbox.served, [])
        self.assertEqual(
            self.sandbox.changes("context['n'] = [len(context['a']), len(context['a'])]", context), {"n": [4995, 4995]}
        )
        self.assertEqual(len(self.sandbox.served), 1)

    def test_values_that_the_code_only_reads_are_no_changes(self):
        pdf = self.sandbox.keep(b"%PDF" * 5000, "bytes")
        context = {
            "pdf": pdf,
            "mail": f'{{"files": [{pdf}, {self.sandbox.keep(b"z" * 6000, "text")}], "n": 1.0}}',
            "page": self.sandbox.keep(b'{"rows" :  [1, 2.50], "more": [' + pdf.encode() + b"]}", "json"),
            "short": self.sandbox.keep(b"short", "text"),
        }
        self.assertEqual(self.sandbox.changes("repr(context)", context), {})
        self.assertEqual(
            self.sandbox.changes("context['copy'] = context['mail']['files'][1][:3]", context), {"copy": "zzz"}
        )

    def test_a_reference_that_is_used_again_needs_no_second_file(self):
        pdf = self.sandbox.keep(b"%PDF" * 7000, "bytes")
        result = self.run_code("context['again'] = {'pdf': context['pdf']}", {"pdf": pdf})
        self.assertEqual(json.loads(result["set"][0][1]), {"pdf": json.loads(pdf)})
        self.assertEqual([blob.get("data") for blob in result["blobs"]], [None])

    def test_an_erased_value_causes_an_error_at_the_line_that_reads_the_value(self):
        result = self.run_code(
            "x = 1\ncontext['pdf']", {"pdf": json.dumps({"$blob": {"sha256": "0" * 64, "bytes": 3, "type": "bytes"}})}
        )
        self.assertEqual(result["message"], 'Unavailable: the value of "pdf" cannot be loaded: it was erased')
        self.assertIn('File "nodes/some.py", line 2', result["traceback"])

    def test_blobs_that_are_wanted_in_advance_are_requested_before_the_code_reads_them(self):
        data = b"ahead" * 2000
        text = self.sandbox.keep(data, "bytes")
        self.sandbox.served.clear()
        ahead = [json.loads(text)["$blob"]]
        code = "import time\nwhile not context.get('x'): time.sleep(0.001)"
        self.assertEqual(
            self.sandbox.changes("context['n'] = len(context['x'])", {"x": text}, ahead=ahead), {"n": 10_000}
        )
        self.assertEqual(len(self.sandbox.served), 1)
        self.assertEqual(self.sandbox.changes(code, {"x": text}, ahead=ahead), {})

    def test_a_damaged_upload_is_requested_again(self):
        data, attempts = b"right" * 100, []
        text = self.sandbox.keep(data, "bytes")

        begun = self.sandbox.begin("context['n'] = context['x'][:5].decode()", {"x": text})
        for answer in self.sandbox.answers(*begun):
            if answer["type"] == "need":
                attempts.append(answer)
                self.sandbox.put(answer["put"], data if len(attempts) == 2 else b"wrong" * 100)
            else:
                result = answer["result"]
        self.assertEqual((result["set"], len(attempts)), ([["n", '"right"']], 2))


if __name__ == "__main__":
    unittest.main()
