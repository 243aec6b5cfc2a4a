// How the pipeline's tab is put together.

#include "app/window/core/answer_side.h"
#include "app/window/core/core_traces.h"
#include "app/window/core/pipeline_tab.h"
#include "app/window/form_parts.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/plots/bar_list.h"

#include <QClipboard>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

constexpr int patience = 200;  ///< ms after the last edit before the core runs
constexpr int frameMilliseconds = 40;
constexpr std::size_t mostSizes = 6;

}  // namespace

PipelineTab::PipelineTab(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("core.pipeline"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(buildForm(this));
    row->addWidget(buildAnswer(this), 1);
    soon_.setSingleShot(true);
    soon_.setInterval(patience);
    connect(&soon_, &QTimer::timeout, this, &PipelineTab::run);
    frame_.setInterval(frameMilliseconds);
    connect(&frame_, &QTimer::timeout, this, [this] {
        if (view_->cycle() >= view_->lastCycle()) return play(false);
        view_->setCycle(view_->cycle() + static_cast<std::uint64_t>(speed_->value()));
    });
    connect(&work_, &Background::advanced, this, &PipelineTab::tell);
    connect(&work_, &Background::ended, this, &PipelineTab::tell);
    connect(view_, &ui::PipelineView::cycleChanged, this, &PipelineTab::tell);
    fillSets();
    showSizes();
    showCores();
    tell();
}

QWidget* PipelineTab::buildForm(QWidget* parent) {
    const ui::Theme& theme = ui::Theme::instance();
    const int unit = theme.unit();
    auto* side = new QWidget(parent);
    side->setFixedWidth(static_cast<int>(34 * unit * ui::formGrowth(theme.scale())));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(unit * 3 / 2, unit, unit, unit);
    column->setSpacing(unit);
    form_ = new QFormLayout;
    form_->setSpacing(unit);
    core_ = namedChoice(side, "core.pipeline.core", tr("Core"),
                        tr("A core of the library, or the core of the drawn CPU, which names its microarchitecture"));
    core_->addItem(tr("drawn: no design"), QString());
    for (const std::string& id : pipeline::machineIds()) core_->addItem(ui::qs(id), ui::qs(id));
    selectData(core_, QStringLiteral("skylake-server"));
    kernel_ = namedChoice(side, "core.pipeline.kernel", tr("Kernel"), tr("What the core computes, in 32-bit floats"));
    for (const pipeline::KernelForm& each : pipeline::kernelForms()) {
        kernel_->addItem(ui::qs(each.name), ui::qs(each.name));
        kernel_->setItemData(kernel_->count() - 1, ui::windowText(each.meaning), Qt::ToolTipRole);
    }
    set_ = namedChoice(side, "core.pipeline.set", tr("Instruction set"), tr("Instruction set of the kernel"));
    form_->addRow(tr("Core"), core_);
    buildCores(side);
    form_->addRow(tr("Kernel"), kernel_);
    form_->addRow(tr("Written for"), set_);
    for (std::size_t i = 0; i < mostSizes; ++i) {
        Size size;
        size.name = new QLabel(side);
        size.value = namedNumber(side, qPrintable(QStringLiteral("core.pipeline.size%1").arg(i)), tr("Size"),
                                 tr("A size of the kernel, by the name that the command line uses"), 1, 1 << 20);
        form_->addRow(size.name, size.value);
        connect(size.value, &QSpinBox::valueChanged, this, &PipelineTab::changed);
        sizes_.push_back(size);
    }
    rows_ = namedNumber(side, "core.pipeline.rows", tr("Operations shown"),
                        tr("How many operations of the run are shown, from fetch to retirement"), 16, 8000);
    rows_->setValue(400);
    place_ = named(new QSlider(Qt::Horizontal, side), "core.pipeline.place", tr("Where in the run"),
                   tr("Where the operations that are shown begin: at the left, caches are still empty"));
    place_->setRange(0, 1000);
    place_->setValue(500);
    form_->addRow(tr("Shown"), rows_);
    form_->addRow(tr("Begins"), place_);
    column->addLayout(form_);
    where_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, side);
    where_->setElided(true);
    column->addWidget(where_);
    problem_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Bad, side);
    problem_->setObjectName(QStringLiteral("core.pipeline.problem"));
    problem_->setWordWrap(true);
    column->addWidget(problem_);
    column->addStretch(1);
    command_ = named(new QPushButton(tr("Command line"), side), "core.pipeline.command", tr("Copy as command line"),
                     tr("Copies the equivalent orrery-cli command"));
    export_ = named(new QPushButton(tr("Export …"), side), "core.pipeline.export", tr("Export the operations"),
                    tr("The picture as SVG, PNG or PDF; every operation with its cycles as CSV, LaTeX or a trace for "
                       "Chrome and Perfetto"));
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(command_);
    buttons->addWidget(export_);
    column->addLayout(buttons);

    connect(core_, &QComboBox::activated, this, [this] {
        fillSets();
        showCores();
        changed();
    });
    connect(kernel_, &QComboBox::activated, this, [this] {
        showSizes();
        changed();
    });
    connect(set_, &QComboBox::activated, this, &PipelineTab::changed);
    connect(rows_, &QSpinBox::valueChanged, this, &PipelineTab::changed);
    connect(place_, &QSlider::valueChanged, this, &PipelineTab::changed);
    connect(command_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(command()); });
    connect(export_, &QPushButton::clicked, this, [this] {
        emit exportWanted(tr("Export the operations"), QStringLiteral("pipeline.svg"),
                          tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;CSV of the operations (*.csv);;TEX table of the "
                             "operations (*.tex);;Chrome and Perfetto trace (*.json)"),
                          [this](const QString& file) { return writeViewOrLanes(file, *view_, pipelineLanes); });
    });
    return side;
}

void PipelineTab::buildCores(QWidget* side) {
    number_ = namedNumber(side, "core.pipeline.cores", tr("Cores"),
                          tr("Cores of the drawn CPU that share the kernel, with their caches and memory"), 1,
                          pipeline::mostCores);
    bind_ = namedChoice(side, "core.pipeline.bind", tr("Which cores run"),
                        tr("If not all cores run: neighbouring cores, or cores as far apart as possible"));
    for (const auto each : {pipeline::Binding::Close, pipeline::Binding::Spread})
        bind_->addItem(ui::qs(toText(each)), static_cast<int>(each));
    pages_ = namedChoice(side, "core.pipeline.pages", tr("Where pages lie"),
                         tr("If parts of the CPU have memory of their own: pages in the core's own part, in all parts "
                            "in turn, in the first part, or in another part"));
    for (std::size_t i = 0; i < pipeline::pagesCount; ++i)
        pages_->addItem(ui::qs(toText(static_cast<pipeline::Pages>(i))), static_cast<int>(i));
    form_->addRow(tr("Cores"), number_);
    form_->addRow(tr("Which run"), bind_);
    form_->addRow(tr("Pages"), pages_);
    connect(number_, &QSpinBox::valueChanged, this, [this] {
        showCores();
        changed();
    });
    connect(bind_, &QComboBox::activated, this, &PipelineTab::changed);
    connect(pages_, &QComboBox::activated, this, &PipelineTab::changed);
}

QWidget* PipelineTab::buildAnswer(QWidget* parent) {
    AnswerSide side(parent, QStringLiteral("core.pipeline"), tr("No run yet"));
    headline_ = side.headline;
    sub_ = side.sub;
    side.addRun(tr("Progress of the run"), tr("Operations that have run"), 1000);
    progress_ = side.progress;
    cancel_ = side.cancel;
    connect(cancel_, &QPushButton::clicked, this, [this] { work_.cancel(); });
    side.column->addWidget(buildPlayer(side.widget));
    QSplitter* panes = side.addPanes(tr("Operations and what limits"));
    auto* below = named(new QSplitter(Qt::Horizontal, panes), "core.pipeline.below", tr("What limits, and the ports"),
                        tr("Drag the border to give one side more room"));
    below->setChildrenCollapsible(false);
    causes_ = new ui::BarList(QStringLiteral("core.pipeline.causes"), tr("What every cycle went to"),
                              tr("Cycles by what the oldest operation waited for; the sum is the whole run"),
                              tr("This shows where the cycles of the run went."), below);
    ports_ = new ui::BarList(QStringLiteral("core.pipeline.ports"), tr("Ports"),
                             tr("Share of the run in which each port was busy"),
                             tr("This shows how busy each port was."), below);
    eachPane_ = named(new QScrollArea(below), "core.pipeline.eachPane", tr("Cores"),
                      tr("Cycles of each core, and what it waited for in shared caches and memory"));
    eachPane_->setFrameShape(QFrame::NoFrame);
    eachPane_->setWidgetResizable(true);
    eachPane_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    each_ = new ui::BarList(QStringLiteral("core.pipeline.each"), tr("Cores"),
                            tr("Cycles of each core, and what it waited for in shared caches and memory"),
                            tr("This shows the cores of the run."), eachPane_);
    eachPane_->setWidget(each_);
    eachPane_->hide();
    below->addWidget(causes_);
    below->addWidget(ports_);
    below->addWidget(eachPane_);
    below->setStretchFactor(0, 3);
    below->setStretchFactor(1, 2);
    below->setStretchFactor(2, 3);
    panes->addWidget(view_);
    panes->addWidget(below);
    side.finish(panes);
    veil_ = side.veil;
    return side.widget;
}

QWidget* PipelineTab::buildPlayer(QWidget* parent) {
    const int unit = ui::Theme::instance().unit();
    auto* player = new QWidget(parent);
    auto* row = new QHBoxLayout(player);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(unit / 2);
    view_ = new ui::PipelineView(parent);
    const auto button = [&](const char* icon, const QString& name, const char* id) {
        auto* made = new ui::IconButton(QLatin1String(icon), name, QLatin1String(id), player);
        row->addWidget(made);
        return made;
    };
    back_ = button("media-seek-backward", tr("Back one cycle"), "core.pipeline.back");
    play_ = button("media-playback-start", tr("Play or pause"), "core.pipeline.play");
    play_->setCheckable(true);
    step_ = button("media-seek-forward", tr("On one cycle"), "core.pipeline.step");
    speed_ =
        namedNumber(player, "core.pipeline.speed", tr("Cycles per frame"), tr("Cycles per animation frame"), 1, 1000);
    speed_->setSuffix(tr(" per frame"));
    row->addWidget(speed_);
    auto* in = button("zoom-in", tr("Zoom in"), "core.pipeline.in");
    auto* out = button("zoom-out", tr("Zoom out"), "core.pipeline.out");
    auto* fit = button("zoom-fit-best", tr("Show all operations"), "core.pipeline.fit");
    cycle_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, player);
    cycle_->setObjectName(QStringLiteral("core.pipeline.cycle"));
    cycle_->setElided(true);
    row->addWidget(cycle_, 1);
    connect(back_, &QToolButton::clicked, this, [this] {
        play(false);
        view_->setCycle(view_->cycle() > 0 ? view_->cycle() - 1 : 0);
    });
    connect(step_, &QToolButton::clicked, this, [this] {
        play(false);
        view_->setCycle(view_->cycle() + 1);
    });
    connect(play_, &QToolButton::toggled, this, &PipelineTab::play);
    connect(in, &QToolButton::clicked, this, [this] { view_->zoomBy(1.5); });
    connect(out, &QToolButton::clicked, this, [this] { view_->zoomBy(1 / 1.5); });
    connect(fit, &QToolButton::clicked, this, [this] { view_->fit(); });
    return player;
}

}  // namespace orrery::app
