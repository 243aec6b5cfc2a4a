// The GPU page as a page of the window.

#include "app/window/gpu/gpu_page.h"
#include "app/window/studio.h"
#include "simulation/gpu/recording_csv.h"
#include "simulation/gpu/trace.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/gpu/warp_timeline.h"

#include <QDir>
#include <QSettings>
#include <QTabWidget>

#include <algorithm>

namespace orrery::app {

namespace {

const QStringList traceEndings{QStringLiteral(".g"), QStringLiteral(".traceg"), QStringLiteral(".traceg.gz"),
                               QStringLiteral(".traceg.zst"), QStringLiteral(".traceg.xz")};

}  // namespace

PageCard GpuPage::card() const {
    return {QStringLiteral("gpu"),
            tr("GPU"),
            tr("A kernel on the drawn GPU, cycle by cycle: every warp, unit and cache"),
            QStringLiteral("cpu"),
            {},
            true,
            {}};
}

void GpuPage::join(Studio& studio) {
    const auto changed = [this] { follow(); };
    connect(&studio.document, &Document::hardwareChanged, this, changed);
    connect(&studio.live, &LiveController::workloadReady, this, changed);
    connect(&studio.document, &Document::replaced, this, [this, changed] {
        forget();
        changed();
    });
    const auto command = [&](const char* id, const QString& text, const QString& tip, std::function<void()> act) {
        studio.actions.add({QLatin1String(id), tr("GPU"), text, tip, {}, {}}, std::move(act));
    };
    command("gpu.simulate", tr("&Simulate the kernel"), tr("Run the GPU page's kernel cycle by cycle"), [this] {
        studio_.router.show(this);
        make();
        run();
    });
    command("gpu.busiest", tr("Go to the &busiest cycles"), tr("The part with the most issued instructions"), [this] {
        studio_.router.show(this);
        make();
        tabs_->setCurrentIndex(0);
        timelines_[0]->showBusiest();
    });
}

std::vector<MenuPart> GpuPage::menus() {
    return {{QStringLiteral("menuRun"), {}, {}, {"-", "gpu.simulate", "gpu.busiest"}, {}}};
}

bool GpuPage::accepts(const OpenFile& file) const {
    return std::ranges::any_of(traceEndings, [&](const QString& each) { return file.path.endsWith(each); });
}

std::vector<FileFilter> GpuPage::filters() const {
    return {{tr("Accel-Sim traces"), traceEndings}};
}

void GpuPage::open(const QString& path) {
    const auto give = [&](bool added) { emit opened(path, added); };
    std::vector<std::string> files;
    if (path.endsWith(QLatin1String(".g"))) {
        const auto commands = gpusim::readKernelList(path.toStdString());
        if (!commands) {
            studio_.messages.complain(commands.error());
            return give(false);
        }
        for (const auto& one : *commands)
            if (one.kind == gpusim::TraceCommand::Kind::Kernel) files.push_back(one.file);
    } else {
        files.push_back(path.toStdString());
    }
    if (files.empty()) {
        studio_.messages.complain(Diagnostic{.code = "gpu.trace",
                                             .message = "the list names no kernel",
                                             .expected = "lines such as kernel-1.traceg",
                                             .place = {path.toStdString(), 0, 0, {}}});
        return give(false);
    }
    traces_ = std::move(files);
    studio_.layouts.showProject();
    studio_.router.show(this);
    studio_.docks.setAside(true);
    make();
    fillKernels();
    setKernel(QStringLiteral("trace:") + ui::qs(traces_.front()));
    studio_.messages.log(Severity::Note, tr("Opened %1").arg(path));
    give(true);
    run();
}

std::vector<ui::PaletteEntry> GpuPage::findable() {
    std::vector<ui::PaletteEntry> found;
    const auto tab = [&](const QString& text, int at) {
        found.push_back({text, tr("GPU"), {}, {}, [this, at] {
                             studio_.router.show(this);
                             if (tabs_) tabs_->setCurrentIndex(at);
                         }});
    };
    tab(tr("Warps over time"), 0);
    tab(tr("Units, caches and DRAM over time"), 1);
    tab(tr("Where a kernel's cycles go"), 2);
    tab(tr("Hot spots: what instructions cost"), 3);
    tab(tr("Occupancy calculator"), 4);
    tab(tr("Counters from code"), 5);
    return found;
}

Expected<QStringList> GpuPage::report(const QString& folder) {
    if (!showsAnswer()) return QStringList();
    QStringList files;
    const auto put = [&](const char* name, const std::string& text) {
        const QString file = QDir(folder).filePath(QLatin1String(name));
        const QString problem = ui::writeText(file, QByteArray::fromStdString(text));
        if (problem.isEmpty()) files << file;
        return problem;
    };
    const auto& recording = *answer_->runs.front().seen.recording;
    for (const auto& [name, text] : {std::pair{"gpu-instructions.csv", gpusim::instructionsCsv(recording)},
                                     {"gpu-activity.csv", gpusim::activityCsv(recording)}})
        if (const QString problem = put(name, text); !problem.isEmpty())
            return fail("report.write", problem.toStdString());
    return files;
}

void GpuPage::saveView(QSettings& settings) const {
    settings.setValue(QStringLiteral("tab"), tabs_ ? tabs_->currentIndex() : tab_);
    settings.setValue(QStringLiteral("kernel"), kernel_);
}

void GpuPage::restoreView(const QSettings& settings) {
    tab_ = settings.value(QStringLiteral("tab"), 0).toInt();
    // A project that asks for an operator brings its own kernel.
    const QString kernel = settings.value(QStringLiteral("kernel")).toString();
    if (!kernel.startsWith(QLatin1String("trace:")) && !kernel.isEmpty() && operatorAsked().empty()) setKernel(kernel);
    if (tabs_) tabs_->setCurrentIndex(tab_);
}

}  // namespace orrery::app
