#include "store/runs/search_store.h"

#include "base/hash.h"
#include "store/runs/run_database.h"
#include "store/runs/study_keys.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_set>

namespace orrery {

namespace {

using store::Statement;
using Step = store::Statement::Step;
static_assert(std::endian::native == std::endian::little, "numbers are stored as they stand in memory");

class SqliteSearchStore : public SearchStore {
public:
    SqliteSearchStore(store::Database database, std::string path)
        : database_(std::move(database)), path_(std::move(path)) {}
    Expected<std::int64_t> begin(const std::string& name, const std::string& problemText) override;
    Expected<std::int64_t> find(const std::string& problemText) override;
    Expected<void> add(std::int64_t search, const PointAnswers& evaluations, std::size_t first) override;
    Expected<void> finish(std::int64_t search) override;
    Expected<PointAnswers> points(std::int64_t search, std::size_t objectives) override;
    Expected<PointAnswers> answered(const std::string& problemText, std::size_t objectives) override;
    Expected<std::vector<StoredSearch>> searches() override;

private:
    Expected<PointAnswers> pointsOf(std::int64_t search, std::size_t objectives);
    Unexpected error(std::string_view doing) const { return store::databaseError(database_.get(), doing, path_); }
    store::Database database_;
    std::string path_;
    std::mutex mutex_;
};

Expected<std::int64_t> SqliteSearchStore::begin(const std::string& name, const std::string& problemText) {
    const std::lock_guard lock(mutex_);
    Statement insert(database_.get(), "insert into searches(name, started, problem, hash) values(?, ?, ?, ?)");
    insert.bind(name).bind(store::utcNow()).bind(problemText).bind(Hash().add(problemText).hex());
    if (insert.step() != Step::Done) return error("begin a search");
    return sqlite3_last_insert_rowid(database_.get());
}

Expected<std::int64_t> SqliteSearchStore::find(const std::string& problemText) {
    const std::lock_guard lock(mutex_);
    Statement select(database_.get(),
                     "select id from searches where hash = ? and problem = ? order by id desc limit 1");
    select.bind(Hash().add(problemText).hex()).bind(problemText);
    switch (select.step()) {
        case Step::Row:
            return select.integer(0);
        case Step::Done:
            return 0;
        default:
            return error("look for the search");
    }
}

Expected<void> SqliteSearchStore::add(std::int64_t search, const PointAnswers& evaluations, std::size_t first) {
    const std::lock_guard lock(mutex_);
    sqlite3* db = database_.get();
    if (!store::execute(db, "begin immediate")) return error("store points");
    const auto giveUp = [&] {
        auto failure = error("store points");
        store::execute(db, "rollback");
        return failure;
    };
    Statement insert(db,
                     "insert into search_points(search, position, point, violation, refusal, numbers) "
                     "values(?,?,?,?,?,?)");
    std::vector<double> numbers(evaluations.objectives * 3);
    for (std::size_t i = first; i < evaluations.size(); ++i) {
        const std::size_t at = i * evaluations.objectives;
        for (std::size_t k = 0; k < evaluations.objectives; ++k) {
            numbers[3 * k] = evaluations.value[at + k];
            numbers[3 * k + 1] = evaluations.low[at + k];
            numbers[3 * k + 2] = evaluations.high[at + k];
        }
        insert.bind(search).bind(static_cast<std::int64_t>(i));
        insert.bind(static_cast<std::int64_t>(evaluations.points[i])).bind(evaluations.violation[i]);
        if (evaluations.answered(i)) {
            insert.bindNull();
        } else {
            insert.bind(evaluations.refusals[evaluations.refusal[i] - 1]);
        }
        insert.bindBytes({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
        if (insert.step() != Step::Done) return giveUp();
        insert.reset();
    }
    if (!store::execute(db, "commit")) return giveUp();
    return {};
}

Expected<void> SqliteSearchStore::finish(std::int64_t search) {
    const std::lock_guard lock(mutex_);
    Statement update(database_.get(), "update searches set finished = 1 where id = ?");
    if (update.bind(search).step() != Step::Done) return error("finish the search");
    return {};
}

// What decides an answer, but not who asks for it.
std::string answerText(const std::string& problemText) {
    std::string text;
    for (std::size_t from = 0; from < problemText.size();) {
        const std::size_t end = std::min(problemText.find('\n', from), problemText.size() - 1) + 1;
        const std::string_view line(problemText.data() + from, end - from);
        if (!line.starts_with("agent ") && !line.starts_with("ladder ")) text += line;
        from = end;
    }
    return text;
}

constexpr std::string_view cheapAgent = "agent cheap of ";

Expected<PointAnswers> SqliteSearchStore::points(std::int64_t search, std::size_t objectives) {
    const std::lock_guard lock(mutex_);
    return pointsOf(search, objectives);
}

Expected<PointAnswers> SqliteSearchStore::answered(const std::string& problemText, std::size_t objectives) {
    const std::lock_guard lock(mutex_);
    const std::string wanted = answerText(problemText);
    std::vector<std::int64_t> alike;
    Statement select(database_.get(), "select id, problem from searches order by id");
    Step step;
    while ((step = select.step()) == Step::Row)
        if (answerText(select.text(1)) == wanted) alike.push_back(select.integer(0));
    if (step == Step::Failed) return error("look for answers");
    PointAnswers all;
    std::unordered_set<std::uint64_t> had;
    for (const std::int64_t id : alike) {
        const auto some = pointsOf(id, objectives);
        if (!some) return some;
        for (std::size_t i = 0; i < some->size(); ++i)
            if (had.insert(some->points[i]).second) all.add(some->at(i));
    }
    return all;
}

Expected<PointAnswers> SqliteSearchStore::pointsOf(std::int64_t search, std::size_t objectives) {
    Statement select(database_.get(),
                     "select point, violation, refusal, numbers from search_points where search = ? order by position");
    select.bind(search);
    PointAnswers evaluations;
    std::vector<double> numbers(objectives * 3);
    Step step;
    while ((step = select.step()) == Step::Row) {
        PointAnswer each{static_cast<std::uint64_t>(select.integer(0)), {}, select.real(1), select.text(2)};
        const std::string bytes = select.text(3);
        if (bytes.size() != numbers.size() * sizeof(double)) {
            return fail("store.damaged", "a point of the search has other numbers than it should", "a sound database",
                        "search again without the file", {path_});
        }
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        for (std::size_t k = 0; k < objectives; ++k)
            each.values.push_back({numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]});
        evaluations.add(each);
    }
    if (step == Step::Failed) return error("read the points");
    return evaluations;
}

Expected<std::vector<StoredSearch>> SqliteSearchStore::searches() {
    const std::lock_guard lock(mutex_);
    Statement select(database_.get(),
                     "select id, name, started, finished, (select count(*) from search_points where search = "
                     "searches.id) from searches where substr(problem, 1, ?) <> ? order by id");
    select.bind(static_cast<std::int64_t>(cheapAgent.size())).bind(cheapAgent);
    std::vector<StoredSearch> all;
    Step step;
    while ((step = select.step()) == Step::Row) {
        all.push_back({select.integer(0), select.text(1), select.text(2), select.integer(3) != 0,
                       static_cast<std::size_t>(select.integer(4))});
    }
    if (step == Step::Failed) return error("read the searches");
    return all;
}

std::string askedText(const SearchProblem& problem) {
    const auto choice = methodChoice(problem.method, builtinMethods());
    const Method* method = choice ? findMethod(choice->id) : nullptr;
    const std::string files = methodFilesHash(problem.method);
    return fmt::format("method {} version {}{}\norrery {} calibrations {}\n{}", problem.method,
                       method ? method->card.version : "", files.empty() ? "" : " files " + files, ORRERY_VERSION,
                       calibrationsHash(), questionText(problem.space.base()));
}

std::string textOf(const SearchProblem& problem, std::string_view agent) {
    std::string text = fmt::format("agent {}\nseed {}\n", agent, problem.seed);
    text += problem.source ? problem.source->identity() + "\n" : askedText(problem);
    for (const Knob& knob : problem.space.knobs()) {
        text += fmt::format("knob {}", knob.path);
        for (const std::string& value : knob.values) text += "\t" + value;
        text += "\n";
    }
    for (const Objective& objective : problem.objectives) text += "objective " + toText(objective) + "\n";
    for (const Constraint& constraint : problem.constraints) text += "constraint " + constraint.text + "\n";
    for (const std::string& method : problem.ladder) text += "ladder " + method + methodFilesHash(method) + "\n";
    if (problem.deviceHour > 0) text += fmt::format("device_hour {}\n", problem.deviceHour);
    return text;
}

}  // namespace

std::string searchProblemText(const SearchProblem& problem, const AgentInfo& agent) {
    return textOf(problem, agent.id);
}

std::string cheapProblemText(const SearchProblem& asked, std::int64_t of) {
    return textOf(asked, fmt::format("cheap of {}", of));
}

Expected<std::unique_ptr<SearchStore>> SearchStore::open(const std::string& path) {
    auto database = store::openRunDatabase(path);
    if (!database) return tl::unexpected(database.error());
    return std::make_unique<SqliteSearchStore>(std::move(*database), path);
}

}  // namespace orrery
