import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Speaks protocol 1, JSON-RPC over standard input and output, for the journal in FileJournal.java.
 *
 * <pre>
 * javac -d build *.java
 * perdure adapter smoke --command "java -cp build Adapter"
 * perdure check journal --command "java -cp build Adapter"
 * </pre>
 */
public final class Adapter {
    /** What the adapter needs of your journal. */
    interface Journal {
        /** All state lives in {@code stateDir}, under {@code namespace}, and nowhere else. */
        void open(String stateDir, String namespace) throws IOException;

        /** Returns what is acknowledged, or a refusal. */
        Map<String, Object> append(String runId, long expectedNext, List<Entry> records) throws IOException;

        Page load(String runId, long fromSequence, int limit) throws IOException;

        void close() throws IOException;
    }

    /** One record of a run. The body is text, and kept as it is (JRN-002). */
    record Entry(long sequence, String eventId, String body) {
        static Entry of(Object json) {
            Map<?, ?> members = (Map<?, ?>) json;
            return new Entry((Long) members.get("sequence"), (String) members.get("event_id"), (String) members.get("body"));
        }

        Map<String, Object> json() {
            return Map.of("sequence", sequence, "event_id", eventId, "body", body);
        }
    }

    /** Some records, and whether no record follows them. */
    record Page(List<Entry> records, boolean end) {}

    // What is claimed is judged. What is not claimed must be refused as unsupported (JRN-022).
    private static final Map<String, Object> CAPABILITIES = Map.of(
            "exact_replay", true, // JRN-008
            "event_id_dedup", true, // JRN-009, JRN-023
            "atomic_batch", true, // JRN-015
            "durable", "process-crash"); // JRN-017

    private static final int PAGE_BYTES = 1 << 20;

    private final Journal journal = new FileJournal();

    private Map<String, Object> initialize(Map<?, ?> params) throws IOException {
        journal.open((String) params.get("state_dir"), (String) params.get("namespace"));
        return Map.of("protocol", 1, "name", "my-journal", "version", "0.1.0",
                "capabilities", CAPABILITIES, "limits", FileJournal.LIMITS);
    }

    /** The param {@code epoch} is null, unless {@code fencing} is claimed. */
    private Map<String, Object> append(Map<?, ?> params) throws IOException {
        List<Entry> records = ((List<?>) params.get("records")).stream().map(Entry::of).toList();
        return journal.append((String) params.get("run_id"), (Long) params.get("expected_next"), records);
    }

    /** A page that would not fit in a line ends early, and is then not the end (JRN-021). */
    private Map<String, Object> load(Map<?, ?> params) throws IOException {
        int limit = Math.toIntExact((Long) params.get("limit"));
        Page page = journal.load((String) params.get("run_id"), (Long) params.get("from_sequence"), limit);
        List<Object> records = new ArrayList<>();
        int size = 0;
        for (Entry entry : page.records()) {
            size += entry.body().getBytes(StandardCharsets.UTF_8).length + 100; // As JSON, up to twice as many.
            if (size > PAGE_BYTES && !records.isEmpty()) {
                break;
            }
            records.add(entry.json());
        }
        return Map.of("records", records, "end", page.end() && records.size() == page.records().size());
    }

    private Map<String, Object> shutdown() throws IOException {
        journal.close();
        return Map.of();
    }

    /** Returns the message that answers a request. An error is a fault of this program, never a refusal. */
    private Map<String, Object> answer(Object id, String method, Map<?, ?> params) {
        try {
            Map<String, Object> result = switch (method) {
                case "initialize" -> initialize(params);
                case "append" -> append(params);
                case "load" -> load(params);
                case "shutdown" -> shutdown();
                default -> null;
            };
            return result != null
                    ? Map.of("jsonrpc", "2.0", "id", id, "result", result)
                    : error(id, -32601, "method not found: " + method);
        } catch (IOException | RuntimeException fault) {
            fault.printStackTrace(); // Logs go to standard error: standard output is for messages alone.
            return error(id, -32603, fault.toString());
        }
    }

    private static Map<String, Object> error(Object id, int code, String message) {
        return Map.of("jsonrpc", "2.0", "id", id, "error", Map.of("code", code, "message", message));
    }

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)); // No CR stands in JSON.
        var adapter = new Adapter();
        for (String line; (line = lines.readLine()) != null; ) {
            Map<?, ?> request = (Map<?, ?>) Json.read(line);
            String method = (String) request.get("method");
            Map<String, Object> answer = adapter.answer(request.get("id"), method, (Map<?, ?>) request.get("params"));
            System.out.write((Json.write(answer) + "\n").getBytes(StandardCharsets.UTF_8)); // Not in the platform's charset.
            System.out.flush(); // Else the answer may stay in this process.
            if (method.equals("shutdown")) {
                return;
            }
        }
    }
}
