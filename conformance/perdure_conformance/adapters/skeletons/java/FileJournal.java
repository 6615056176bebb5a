import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A journal on files, to be replaced by yours. The adapter calls three things: the constructor, append and load.
 *
 * <p>A file for each run is written anew by each append: short, and slow when runs are long.
 */
final class FileJournal {
    static final Map<String, Integer> LIMITS =
            Map.of("max_batch_records", 1000, "max_batch_bytes", 1 << 20, "max_snapshot_bytes", 1 << 20); // JRN-014
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** One record of a run. The body is text, and kept as it is (JRN-002). */
    record Entry(long sequence, String eventId, String body) {}

    private final Path folder;

    FileJournal(String stateDir, String namespace) throws IOException {
        folder = Files.createDirectories(Path.of(stateDir, namespace));
    }

    /** Compares and appends. The first refusal that applies is the answer, in this order (JRN-013). */
    Map<String, Object> append(String runId, long expectedNext, List<Entry> records) throws IOException {
        List<Entry> stored = read(runId);
        var ids = new HashSet<>(records.stream().map(Entry::eventId).toList());
        var named = records.stream().map(it -> Map.of("sequence", it.sequence(), "event_id", it.eventId())).toList();
        if (ids.size() != Math.max(records.size(), 1) || !areDue(expectedNext, records)) {
            return Map.of("refused", "invalid_record"); // JRN-012
        } else if (records.size() > LIMITS.get("max_batch_records")
                || sizeOf(records) > LIMITS.get("max_batch_bytes")) {
            return Map.of("refused", "too_large"); // JRN-026
        } else if (new HashSet<>(stored).containsAll(records)) {
            return Map.of("acknowledged", named); // An exact replay is stored already (JRN-008).
        } else if (stored.stream().map(Entry::eventId).anyMatch(ids::contains)) {
            return Map.of("refused", "event_id_conflict"); // Of this run alone (JRN-009, JRN-010).
        } else if (expectedNext != stored.size() + 1) {
            // JRN-004, JRN-005, JRN-006
            return Map.of("refused", "sequence_conflict", "actual_next", stored.size() + 1);
        }
        stored.addAll(records);
        write(runId, stored);
        return Map.of("acknowledged", named);
    }

    /**
     * Returns a page. One that would not fit in a line ends early, and is then not the end (JRN-003, JRN-021).
     *
     * <p>A line has room for twice the bytes of a batch. Text takes up to twice its bytes, and what is around it 100.
     */
    Map<String, Object> load(String runId, long fromSequence, long limit) throws IOException {
        List<Entry> rest = read(runId).stream().skip(fromSequence - 1).toList();
        List<Entry> page = rest.stream().limit(limit).toList();
        while (page.size() > 1 && sizeOf(page) + 100 * page.size() > LIMITS.get("max_batch_bytes")) {
            page = page.subList(0, page.size() / 2);
        }
        return Map.of("records", page, "end", page.size() == rest.size());
    }

    /** Returns all records of a run. One that is not known has none (JRN-011). */
    private List<Entry> read(String runId) throws IOException {
        Path path = folder.resolve(runId + ".json");
        String content = Files.exists(path) ? Files.readString(path) : "[]";
        return new ArrayList<>(List.of(Adapter.JSON.fromJson(content, Entry[].class)));
    }

    /**
     * Stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
     *
     * <p>A kill leaves the old file or the new one. A power cut may take both: {@code durable} would be more than
     * process-crash if the new file were synced before it is renamed, and the folder after.
     */
    private void write(String runId, List<Entry> records) throws IOException {
        Path whole = Files.writeString(folder.resolve("new"), Adapter.JSON.toJson(records));
        Files.move(whole, folder.resolve(runId + ".json"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Tells whether records are dense from expectedNext, each with an event id and a body (JRN-012). */
    private static boolean areDue(long expectedNext, List<Entry> records) {
        long due = expectedNext;
        for (Entry entry : records) {
            if (entry.sequence() != due++ || !UUID.matcher(entry.eventId()).matches() || entry.body().isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many bytes the bodies have. */
    private static int sizeOf(List<Entry> records) {
        return records.stream().mapToInt(entry -> entry.body().getBytes(UTF_8).length).sum();
    }
}
