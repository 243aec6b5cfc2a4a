#include "widgets/graph/graphviz_layout.h"

#include "base/text/json_cursor.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include <optional>
#include <string_view>
#include <vector>

namespace orrery::ui {
namespace {

constexpr int reapWithin = 90;  // ms that a killed process gets to disappear

QString programPath() {
#ifdef Q_OS_WIN
    const QString name = QStringLiteral("orrery-layout.exe");
#else
    const QString name = QStringLiteral("orrery-layout");
#endif
    const QString here = QCoreApplication::applicationDirPath();
    for (const QString& folder : {here, here + "/../bin"}) {  // installed or built; from a test beside `bin`
        const QFileInfo file(folder + "/" + name);
        if (file.isFile() && file.isExecutable()) return file.canonicalFilePath();
    }
    return {};
}

QByteArray requestOf(const LayoutGraph& graph, GraphvizLayout::Engine engine) {
    static constexpr const char* names[] = {"dot", "neato", "sfdp", "circo"};
    QJsonArray nodes, edges, frames;
    for (std::size_t n = 0; n < graph.sizes.size(); ++n) {
        nodes.append(
            QJsonArray{graph.sizes[n].width(), graph.sizes[n].height(), n < graph.frame.size() ? graph.frame[n] : -1});
    }
    for (const auto& edge : graph.edges) edges.append(QJsonArray{edge.from, edge.to});
    for (std::size_t f = 0; f < graph.frameParent.size(); ++f) {
        frames.append(QJsonArray{graph.frameParent[f], f < graph.frameWidth.size() ? graph.frameWidth[f] : 0.0});
    }
    return QJsonDocument(QJsonObject{{"engine", names[static_cast<int>(engine)]},
                                     {"leftToRight", graph.leftToRight},
                                     {"titleHeight", graph.titleHeight},
                                     {"nodes", nodes},
                                     {"edges", edges},
                                     {"frames", frames}})
        .toJson(QJsonDocument::Compact);
}

constexpr std::size_t mostNumbers = 1'000'000;  // of one edge's route

/// Arrays of numbers; null where there is none.
std::vector<std::optional<std::vector<double>>> rowsOf(JsonCursor& json) {
    std::vector<std::optional<std::vector<double>>> rows;
    for (json.array(); json.element();) {
        if (json.null())
            rows.emplace_back();
        else
            rows.emplace_back(json.numbers(mostNumbers));
    }
    return rows;
}

/// What the program answered, if it fits the graph that it was asked about.
std::optional<LayoutResult> resultOf(const QByteArray& text, const LayoutGraph& graph) {
    JsonCursor json({text.data(), std::size_t(text.size())}, "answer", "layout");
    std::vector<std::optional<std::vector<double>>> nodes, edges, frames;
    std::vector<double> size;
    std::string_view name;
    for (json.object(); json.key(name);) {
        if (name == "nodes")
            nodes = rowsOf(json);
        else if (name == "edges")
            edges = rowsOf(json);
        else if (name == "frames")
            frames = rowsOf(json);
        else if (name == "size")
            size = json.numbers(2);
        else
            json.skip();
    }
    json.end();
    if (!json.ok() || nodes.size() != graph.sizes.size() || edges.size() != graph.edges.size() ||
        frames.size() != graph.frameParent.size() || size.size() != 2) {
        return std::nullopt;
    }
    LayoutResult result;
    for (const auto& at : nodes) {
        if (!at || at->size() != 2) return std::nullopt;
        result.centres.emplace_back((*at)[0], (*at)[1]);
    }
    for (const auto& points : edges) {
        if (!points || points->size() < 4 || points->size() % 2 != 0) return std::nullopt;
        auto& route = result.routes.emplace_back();
        for (std::size_t p = 0; p < points->size(); p += 2) route.emplace_back((*points)[p], (*points)[p + 1]);
    }
    for (const auto& box : frames) {
        if (box && box->size() != 4) return std::nullopt;
        result.frames.push_back(box ? QRectF((*box)[0], (*box)[1], (*box)[2], (*box)[3]) : QRectF());
    }
    result.bounds = QRectF(0, 0, size[0], size[1]);
    return result;
}

}  // namespace

struct GraphvizLayout::State {
    std::unique_ptr<QProcess> process;
    LayoutGraph graph;
    QString stage, complaint;
};

GraphvizLayout::GraphvizLayout(QObject* parent) : QObject(parent), state_(std::make_unique<State>()) {}

GraphvizLayout::~GraphvizLayout() {
    cancel();
}

bool GraphvizLayout::isAvailable() {
    return !programPath().isEmpty();
}

bool GraphvizLayout::isRunning() const {
    return state_->process != nullptr;
}

void GraphvizLayout::start(const LayoutGraph& graph, Engine engine) {
    cancel();
    const QString program = programPath();
    state_->graph = graph;
    state_->stage.clear();
    state_->complaint.clear();
    state_->process = std::make_unique<QProcess>();
    QProcess* process = state_->process.get();
    // The process object may be the sender: it is deleted from the event loop.
    const auto end = [this] {
        QProcess* done = state_->process.release();
        done->disconnect();
        done->deleteLater();
    };
    const auto fail = [this, end](const QString& why) {
        end();
        Q_EMIT failed(why);
    };
    if (program.isEmpty()) {
        QMetaObject::invokeMethod(
            process, [fail] { fail(tr("The program orrery-layout is missing: this build has no Graphviz.")); },
            Qt::QueuedConnection);
        return;
    }
    connect(process, &QProcess::errorOccurred, this, [fail](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) fail(tr("The program orrery-layout could not be started."));
    });
    connect(process, &QProcess::readyReadStandardError, this, [this, process] {
        const QString text = QString::fromLocal8Bit(process->readAllStandardError());
        const QStringList lines = text.split('\n', Qt::SkipEmptyParts);
        if (!lines.isEmpty()) state_->complaint = lines.last().trimmed();
        // The latest stage that Graphviz names counts.
        const std::pair<const char*, QString> stages[] = {
            {"network simplex", tr("Ranking")},       {"mincross", tr("Uncrossing edges")},
            {"routesplines", tr("Routing edges")},    {"spline", tr("Routing edges")},
            {"Solving model", tr("Spreading nodes")}, {"overlap", tr("Separating nodes")}};
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
            for (const auto& [word, stage] : stages) {
                if (!line->contains(QLatin1String(word))) continue;
                if (stage != state_->stage) {
                    state_->stage = stage;
                    Q_EMIT progress(-1, stage);
                }
                return;
            }
        }
    });
    connect(process, &QProcess::finished, this, [this, process, end, fail](int code, QProcess::ExitStatus status) {
        if (status != QProcess::NormalExit) return fail(tr("Graphviz stopped unexpectedly."));
        if (code != 0) return fail(tr("Graphviz could not lay the graph out: %1").arg(state_->complaint));
        const auto result = resultOf(process->readAllStandardOutput(), state_->graph);
        if (!result) return fail(tr("Graphviz gave an answer that does not fit the graph."));
        end();
        Q_EMIT finished(*result);
    });
    Q_EMIT progress(-1, tr("Starting"));
    if (state_->process.get() != process) return;  // cancelled by who was told
    process->start(program, {});
    process->write(requestOf(graph, engine));
    process->closeWriteChannel();
}

void GraphvizLayout::cancel() {
    if (!state_->process) return;
    const std::unique_ptr<QProcess> process = std::move(state_->process);
    process->disconnect();
    if (process->state() == QProcess::NotRunning) {
        return;
    }
    process->kill();
    process->waitForFinished(reapWithin);
}

}  // namespace orrery::ui
