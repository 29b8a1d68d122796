// SPDX-License-Identifier: Apache-2.0
package steptrace.limits;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Objects by class and site: the table that {@code steptrace heap --by class+site --csv} prints. */
public final class Sites {
    private static final String HEADER = "objects,bytes,class,site";
    private static final Pattern TWIN = Pattern.compile(" \\((?:loader|class) \\d+\\)$");
    private static final int ROWS = 10;
    private static final int FRAMES = 12;
    private static final Map<String, String> PRIMITIVES = Map.of("Z", "boolean", "B", "byte", "C", "char", "S", "short",
            "I", "int", "J", "long", "F", "float", "D", "double");

    private record Row(long objects, long bytes, String type, String[] frames) {
        private boolean grows(Row then, int least) {
            boolean hasFewMore = objects - then.objects < least;
            return hasFewMore ? objects <= then.objects && isMuchMore(bytes, then.bytes) : isMuchMore(objects, then.objects);
        }

        private static boolean isMuchMore(long now, long then) {
            return now > then && 20 * now >= 29 * then;
        }

        private boolean isOf(Row other) {
            return type.equals(other.type) && Arrays.equals(frames, other.frames);
        }
    }

    private final List<Row> rows = new ArrayList<>();

    private Sites() {
    }

    static Sites of(String csv) throws IOException {
        List<List<String>> records = records(csv);
        if (records.isEmpty() || !String.join(",", records.get(0)).equals(HEADER))
            throw new IOException("steptrace heap printed an unexpected table: " + csv);
        Sites sites = new Sites();
        for (List<String> at : records.subList(1, records.size()))
            sites.rows.add(new Row(Long.parseLong(at.get(0)), Long.parseLong(at.get(1)),
                    sourceName(shown(at.get(2))), shown(at.get(3)).split(";")));
        return sites;
    }

    /** As in source code, and in one line: generated classes may have any name. */
    private static String shown(String name) {
        return name.replace('/', '.').replaceAll("\\R", "?");
    }

    /** Fields are separated by commas, and may be in quotes, where two quotes are one. */
    private static List<List<String>> records(String csv) {
        List<List<String>> records = new ArrayList<>();
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int at = 0; at < csv.length(); at++) {
            char letter = csv.charAt(at);
            if (quoted && csv.startsWith("\"\"", at)) {
                field.append(letter);
                at++;
            } else if (letter == '"') {
                quoted = !quoted;
            } else if (quoted || (letter != ',' && letter != '\n')) {
                field.append(letter);
            } else {
                fields.add(field.toString());
                field.setLength(0);
                if (letter == '\n') {
                    records.add(fields);
                    fields = new ArrayList<>();
                }
            }
        }
        return records;
    }

    /** "1 object, 24 bytes". */
    public static String amount(long objects, long bytes) {
        return objects + (objects == 1 ? " object, " : " objects, ") + bytes + " bytes";
    }

    /** "byte[]" for "[B", "a.B[][]" for "[[La.B;", "a.B[] (loader 3)" for "[La.B; (loader 3)". */
    static String sourceName(String name) {
        String twin = name.substring(plainName(name).length()), plain = plainName(name);
        int dimensions = plain.lastIndexOf('[') + 1;
        String element = plain.substring(dimensions);
        if (dimensions == 0)
            return name;
        element = element.startsWith("L") && element.endsWith(";") ? element.substring(1, element.length() - 1)
                : PRIMITIVES.getOrDefault(element, element);
        return element + "[]".repeat(dimensions) + twin;
    }

    /** Without what the command adds to the names of classes that share theirs. */
    private static String plainName(String name) {
        return TWIN.matcher(name).replaceFirst("");
    }

    /** A hidden class has an address in its name, and one that shares its name a number: they change from run to run. */
    private static String stableName(String type) {
        return plainName(type).replaceAll("\\$\\$Lambda[^\\[ ]*", "\\$\\$Lambda").replaceAll("\\.0x[0-9a-f]+", "");
    }

    /** Objects by class, by names that are the same in each run. */
    public SortedMap<String, Long> classes() {
        SortedMap<String, Long> classes = new TreeMap<>();
        for (Row row : rows)
            classes.merge(stableName(row.type), row.objects, Long::sum);
        return classes;
    }

    /** "10, then 11 a.Item; 0, then 2 byte[]": the classes of which there are not as many. */
    public String differences(Sites then) {
        SortedMap<String, Long> before = classes(), after = then.classes();
        SortedSet<String> all = new TreeSet<>(before.keySet());
        all.addAll(after.keySet());
        return all.stream().filter(type -> !before.getOrDefault(type, 0L).equals(after.getOrDefault(type, 0L)))
                .map(type -> before.getOrDefault(type, 0L) + ", then " + after.getOrDefault(type, 0L) + " " + type)
                .collect(Collectors.joining("; "));
    }

    /** "12 objects, 600 bytes: 10 a.Item, 2 byte[]", with so many classes, those with most bytes. */
    public String summary(int most) {
        SortedMap<String, Long> bytes = new TreeMap<>(), objects = classes();
        for (Row row : rows)
            bytes.merge(stableName(row.type), row.bytes, Long::sum);
        String largest = bytes.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(most).map(type -> objects.get(type.getKey()) + " " + type.getKey())
                .collect(Collectors.joining(", "));
        return amount(objects(), bytes()) + (largest.isEmpty() ? "" : ": " + largest);
    }

    /** How many objects. */
    public long objects() {
        return rows.stream().mapToLong(Row::objects).sum();
    }

    /** Their sizes together. */
    public long bytes() {
        return rows.stream().mapToLong(Row::bytes).sum();
    }

    /** With sites that end with the test's own frame. Who calls it differs: reflection changes its way after some calls. */
    public Sites within(String test) {
        Sites within = new Sites();
        within.rows.addAll(below(test));
        return within;
    }

    /** By what there is more than there was then, by class and site. */
    public Sites more(Sites then) {
        Sites more = new Sites();
        for (Row row : rows) {
            long objects = row.objects, bytes = row.bytes;
            for (Row old : then.rows)
                if (old.isOf(row)) {
                    objects -= old.objects;
                    bytes -= old.bytes;
                }
            if (bytes > 0)
                more.rows.add(new Row(objects, bytes, row.type, row.frames));
        }
        more.rows.sort(Comparator.comparingLong(Row::bytes).reversed());
        return more;
    }

    /**
     * Whether there is more of a class at a site by nearly half or more, and by so many objects at least, or of no more
     * objects that much more bytes: of twice the calls, a leak leaves twice as much there, and a list that grows by halves
     * has grown. What was not there then is no growth yet; a few objects more are chance.
     */
    public boolean grow(Sites then, int least) {
        for (Row row : rows)
            for (Row old : then.rows)
                if (old.isOf(row) && row.grows(old, least))
                    return true;
        return false;
    }

    /** Class, site and lines of the largest rows; a site ends with the test's own frame. */
    public String table(String test) {
        return table(test, row -> amount(row.objects, row.bytes));
    }

    /** The same with the share of an operation. */
    public String perOperation(String test, long operations) {
        return table(test, row -> String.format(Locale.ROOT, "%.3f objects, %.3f bytes", (double) row.objects / operations,
                (double) row.bytes / operations));
    }

    private String table(String test, Function<Row, String> amount) {
        List<Row> merged = below(test);
        StringBuilder text = new StringBuilder();
        for (Row row : merged.subList(0, Math.min(ROWS, merged.size()))) {
            text.append("  ").append(amount.apply(row)).append(": ").append(row.type).append('\n');
            for (int i = 0; i < Math.min(FRAMES, row.frames.length); i++)
                text.append("      at ").append(row.frames[i]).append('\n');
            if (row.frames.length > FRAMES)
                text.append("      ...\n");
        }
        if (merged.size() > ROWS)
            text.append("  and ").append(merged.size() - ROWS).append(" more sites\n");
        return text.toString();
    }

    /** Without the frames that called the test: rows that differ in these alone are one. */
    private List<Row> below(String test) {
        Map<List<String>, Row> merged = new LinkedHashMap<>();
        for (Row row : rows) {
            int frames = 0;
            while (frames < row.frames.length && !row.frames[frames++].startsWith(test + "("))
                continue;
            String[] kept = Arrays.copyOf(row.frames, frames);
            List<String> key = new ArrayList<>(List.of(kept));
            key.add(row.type);
            merged.merge(key, new Row(row.objects, row.bytes, row.type, kept), (one, other) -> new Row(one.objects + other.objects,
                    one.bytes + other.bytes, one.type, one.frames));
        }
        return merged.values().stream().sorted(Comparator.comparingLong(Row::bytes).reversed()).collect(Collectors.toList());
    }
}
