import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** A journal on files, to be replaced by yours: a file for each run, a line for each batch. */
final class FileJournal implements Adapter.Journal {
    static final Map<String, Integer> LIMITS =
            Map.of("max_batch_records", 1000, "max_batch_bytes", 1 << 20, "max_snapshot_bytes", 1 << 20); // JRN-014
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private final Map<String, List<Adapter.Entry>> runs = new HashMap<>();
    private Path folder;

    @Override
    public void open(String stateDir, String namespace) throws IOException {
        folder = Files.createDirectories(Path.of(stateDir, namespace));
    }

    /** Compares and appends. The first refusal that applies is the answer, in this order (JRN-013). */
    @Override
    public Map<String, Object> append(String runId, long expectedNext, List<Adapter.Entry> records) throws IOException {
        List<Adapter.Entry> stored = read(runId);
        int next = stored.size() + 1;
        if (!isValid(expectedNext, records)) {
            return Map.of("refused", "invalid_record");
        }
        if (isTooLarge(records)) {
            return Map.of("refused", "too_large"); // JRN-026
        }
        long end = expectedNext - 1 + records.size();
        if (end < next && stored.subList((int) expectedNext - 1, (int) end).equals(records)) {
            return acknowledged(records); // An exact replay: it is stored already (JRN-008).
        }
        Set<String> known = new HashSet<>();
        stored.forEach(entry -> known.add(entry.eventId())); // Of this run alone (JRN-010).
        if (records.stream().anyMatch(entry -> known.contains(entry.eventId()))) {
            return Map.of("refused", "event_id_conflict"); // JRN-009
        }
        if (expectedNext != next) {
            return Map.of("refused", "sequence_conflict", "actual_next", next); // JRN-004, JRN-005, JRN-006
        }
        write(runId, records);
        stored.addAll(records);
        return acknowledged(records);
    }

    /** Returns a page (JRN-003, JRN-021). An unknown run has no records (JRN-011). */
    @Override
    public Adapter.Page load(String runId, long fromSequence, int limit) throws IOException {
        List<Adapter.Entry> stored = read(runId);
        int from = (int) Math.min(fromSequence - 1, stored.size());
        int to = Math.min(stored.size() - from, limit) + from;
        return new Adapter.Page(stored.subList(from, to), to == stored.size());
    }

    @Override
    public void close() {} // Nothing is open between calls.

    private Path path(String runId) {
        return folder.resolve(runId + ".journal");
    }

    /** Reads a run once. A last line without its LF was never acknowledged: it is cut off (JRN-015, JRN-017). */
    private List<Adapter.Entry> read(String runId) throws IOException {
        List<Adapter.Entry> known = runs.get(runId);
        if (known != null) {
            return known;
        }
        List<Adapter.Entry> stored = new ArrayList<>();
        byte[] content = Files.exists(path(runId)) ? Files.readAllBytes(path(runId)) : new byte[0];
        int begin = 0;
        for (int at = 0; at < content.length; at++) {
            if (content[at] == '\n') {
                String line = new String(content, begin, at - begin, StandardCharsets.UTF_8);
                ((List<?>) Json.read(line)).forEach(record -> stored.add(Adapter.Entry.of(record)));
                begin = at + 1;
            }
        }
        if (begin < content.length) {
            try (var file = FileChannel.open(path(runId), StandardOpenOption.WRITE)) {
                file.truncate(begin);
            }
        }
        runs.put(runId, stored);
        return stored;
    }

    /** Writes a batch as one line, and has it on disk before it is acknowledged (JRN-015, JRN-017). */
    private void write(String runId, List<Adapter.Entry> records) throws IOException {
        String line = Json.write(records.stream().map(Adapter.Entry::json).toList()) + "\n";
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        try (var file = FileChannel.open(path(runId), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        } catch (IOException fault) {
            runs.remove(runId); // Who knows what is there? It is read again.
            throw fault;
        }
    }

    private static Map<String, Object> acknowledged(List<Adapter.Entry> records) {
        return Map.of("acknowledged", records.stream()
                .map(entry -> Map.of("sequence", entry.sequence(), "event_id", entry.eventId()))
                .toList());
    }

    /** Tells whether there are records, dense from expectedNext, with an id of their own and a body (JRN-012). */
    private static boolean isValid(long expectedNext, List<Adapter.Entry> records) {
        Set<String> ids = new HashSet<>();
        for (Adapter.Entry entry : records) {
            boolean isDue = entry.sequence() == expectedNext + ids.size();
            if (!isDue || !UUID.matcher(entry.eventId()).matches() || entry.body().isEmpty() || !ids.add(entry.eventId())) {
                return false;
            }
        }
        return !records.isEmpty();
    }

    private static boolean isTooLarge(List<Adapter.Entry> records) {
        int size = records.stream().mapToInt(entry -> entry.body().getBytes(StandardCharsets.UTF_8).length).sum();
        return records.size() > LIMITS.get("max_batch_records") || size > LIMITS.get("max_batch_bytes");
    }
}
