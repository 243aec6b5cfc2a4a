// Controls and views of the GPU page.

#include "app/window/gpu/counters_tab.h"
#include "app/window/gpu/gpu_page.h"
#include "app/window/gpu/occupancy_tab.h"
#include "app/window/lack.h"
#include "app/window/page_head.h"
#include "methods/gpu/gpu_what_if.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/gpu/activity_heat.h"
#include "widgets/gpu/cycle_stack_view.h"
#include "widgets/gpu/warp_timeline.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>

namespace orrery::app {

namespace {

QToolButton* textButton(QWidget* parent, const char* id, const QString& text, const QString& tip) {
    auto* button = named(new QToolButton(parent), id, text, tip);
    button->setText(text);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    return button;
}

/// The share of a pass's time before the kernel's own words.
class SharesDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const QString share = index.data(Qt::UserRole).toString();
        constexpr QChar figureSpace(0x2007);
        if (!share.isEmpty())
            option->text = share.rightJustified(7, figureSpace) + QStringLiteral("   ") + option->text;
    }
};

// Kernels differ in their sizes, in the middle of long names: the list is as wide as they are, and what was chosen is
// read from its start.
class KernelBox : public QComboBox {
public:
    using QComboBox::QComboBox;
    void showPopup() override {
        const int room = window()->width() - mapTo(window(), QPoint()).x();
        view()->setMinimumWidth(std::min(view()->sizeHintForColumn(0) + ui::Theme::instance().unit() * 4, room));
        QComboBox::showPopup();
    }
};

QComboBox* kernelChoice(QWidget* parent, const char* id, const QString& name, const QString& tip) {
    auto* box = named(new KernelBox(parent), id, name, tip);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(16);
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    box->setCompleter(nullptr);
    box->setItemDelegate(new SharesDelegate(box));
    box->lineEdit()->setObjectName(QLatin1String(id) + QStringLiteral(".text"));
    box->lineEdit()->setAccessibleName(name);
    box->lineEdit()->setToolTip(tip);
    const auto fromItsStart = [line = box->lineEdit()] {
        if (!line->isModified()) line->setCursorPosition(0);
    };
    QObject::connect(box->lineEdit(), &QLineEdit::textChanged, box, fromItsStart);
    return box;
}

}  // namespace

void GpuPage::build() {
    stack_ = new QStackedLayout(this);
    empty_ = new ui::EmptyPage(tr("No GPU to simulate"), {}, offerFor(Lack::Device), this);
    connect(empty_, &ui::EmptyPage::clicked, this, [this] { fillIn(studio_, Lack::Device); });
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    head_ = new PageHead(QStringLiteral("gpu"), page);
    run_ = head_->addAbove("gpu.run", tr("Run"), tr("Simulate the kernel, or stop"));
    export_ = head_->addAbove("gpu.export", tr("Export …"),
                              tr("The visible view as SVG, PDF or PNG, its numbers as CSV or LaTeX, the warps as a "
                                 "trace for Chrome and Perfetto"));
    progress_ = head_->addProgress(tr("Simulation"), tr("Simulated warp instructions, of all to simulate"));
    column->addWidget(head_);
    column->addWidget(buildForm(page));
    tabs_ =
        named(new QTabWidget(page), "gpu.tabs", tr("Views of the kernel"),
              tr("Warps over time, units and memory, cycles by cause, instructions, occupancy, counters from code"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("gpu.tabs.bar"));
    tabs_->tabBar()->setAccessibleName(tr("Views of the kernel"));
    tabs_->tabBar()->setToolTip(
        tr("Warps over time, units and memory, cycles by cause, instructions, occupancy, counters from code"));
    // What a question late dims: all but the calculator and predictions, which answer at once.
    stackView_ = new ui::CycleStackView(tabs_);
    occupancy_ = new OccupancyTab(tabs_);
    tabs_->addTab(buildWarps(tabs_), tr("Warps"));
    tabs_->addTab(buildActivity(tabs_), tr("Units and memory"));
    tabs_->addTab(stackView_, tr("Where cycles go"));
    tabs_->addTab(buildInstructions(tabs_), tr("Instructions"));
    tabs_->addTab(occupancy_, tr("Occupancy"));
    counters_ = new CountersTab(tabs_);
    tabs_->addTab(counters_, tr("Counters from code"));
    column->addWidget(tabs_, 1);
    veil_ = new ui::Veil(tabs_);
    veil_->setObjectName(QStringLiteral("gpu.veil"));
    stack_->addWidget(empty_);
    stack_->addWidget(page);
    tabs_->setCurrentIndex(tab_);
    connect(tabs_, &QTabWidget::currentChanged, this, [this] { showLate(); });
    connect(run_, &QPushButton::clicked, this, [this] { isBusy() ? stop() : run(); });
    connect(export_, &QPushButton::clicked, this, &GpuPage::exportAs);
}

QWidget* GpuPage::buildForm(QWidget* parent) {
    auto* form = new QWidget(parent);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), form);
    const auto add = [&](const QString& text, std::initializer_list<QWidget*> fields) {
        auto* group = new QHBoxLayout;
        auto* label = new ui::Label(text, ui::FontRole::Body, ui::Tone::Muted, form);
        label->setBuddy(*fields.begin());
        group->addWidget(label);
        for (QWidget* field : fields) group->addWidget(field);
        row->addGroup(group);
    };
    kernels_ =
        kernelChoice(form, "gpu.kernel", tr("Kernel"),
                     tr("A kind of kernel and its sizes, such as gemm m=512 n=512 k=512 fp16; one of the "
                        "workload's kernels, listed by their share of its time; or a kernel of an opened trace"));
    budget_ = namedNumber(form, "gpu.budget", tr("Budget"),
                          tr("Seconds of simulation, 150,000 warp instructions each. For longer kernels only the first "
                             "waves of blocks are simulated"),
                          1, 600);
    budget_->setSuffix(tr(" s"));
    budget_->setValue(5);
    sample_ = namedChoice(form, "gpu.sample", tr("Longer kernels"),
                          tr("What to simulate if the kernel is longer than the budget"));
    const auto kind = [&](const QString& text, const char* id, const QString& tip) {
        sample_->addItem(text, QLatin1String(id));
        sample_->setItemData(sample_->count() - 1, tip, Qt::ToolTipRole);
    };
    kind(tr("first waves"), "",
         tr("The first waves of blocks, fewer steps, or a part of the machine; no answer for the rest"));
    kind(tr("waves alike"), "simpoint",
         tr("Representative waves, one for each group with the same instructions (SimPoint): the whole kernel, with an "
            "interval"));
    kind(tr("waves at random"), "smarts",
         tr("One wave from each of equal stretches (SMARTS): the whole kernel, with an interval"));
    change_ = namedChoice(form, "gpu.change", tr("What if"),
                          tr("A second column: the same kernel on a machine with one attribute changed"));
    change_->addItem(tr("nothing changes"), QString());
    for (const MachineChange& each : machineChanges()) {
        change_->addItem(ui::qs(each.name), ui::qs(each.id));
        change_->setItemData(change_->count() - 1, ui::windowText(each.meaning), Qt::ToolTipRole);
    }
    factor_ = named(new QComboBox(form), "gpu.factor", tr("Factor"), tr("By how much the attribute is changed"));
    for (const double factor : {0.25, 0.5, 2.0, 4.0}) factor_->addItem(QStringLiteral("× %1").arg(factor), factor);
    factor_->setCurrentIndex(2);
    others_ = kernelChoice(form, "gpu.other", tr("Beside"), tr("The kernel of the second column"));
    others_->addItem(tr("the same kernel"));
    add(tr("Kernel"), {kernels_});
    add(tr("Budget"), {budget_});
    add(tr("Longer kernels"), {sample_});
    add(tr("What if"), {change_, factor_});
    add(tr("Beside"), {others_});
    connect(kernels_, &QComboBox::editTextChanged, this, [this](const QString& text) {
        kernel_ = text;
        awaitsOperator_ = false;
        asked();
    });
    connect(kernels_->lineEdit(), &QLineEdit::returnPressed, this, &GpuPage::run);
    connect(others_, &QComboBox::editTextChanged, this, &GpuPage::asked);
    for (QComboBox* each : {change_, factor_, sample_})
        connect(each, &QComboBox::currentIndexChanged, this, &GpuPage::asked);
    connect(budget_, &QSpinBox::valueChanged, this, &GpuPage::asked);
    return form;
}

QWidget* GpuPage::buildWarps(QWidget* parent) {
    auto* tab = new QWidget(parent);
    auto* column = new QVBoxLayout(tab);
    auto* row = new QHBoxLayout;
    back_ = textButton(tab, "gpu.back", tr("◀ Step"), tr("To the previous issue (Left)"));
    play_ = textButton(tab, "gpu.play", tr("Play"), tr("Step from issue to issue automatically"));
    play_->setCheckable(true);
    forward_ = textButton(tab, "gpu.forward", tr("Step ▶"), tr("To the next issue (Right)"));
    busiest_ = textButton(tab, "gpu.busiest", tr("Busiest"), tr("To the part with the most issued instructions (B)"));
    all_ = textButton(tab, "gpu.all", tr("All"), tr("Show the whole recording (double click)"));
    cursor_ = new ui::Label({}, ui::FontRole::Mono, ui::Tone::Normal, tab);
    cursor_->setObjectName(QStringLiteral("gpu.cursor"));
    cursor_->setElided(true);
    for (QToolButton* each : {back_, play_, forward_, busiest_, all_}) row->addWidget(each);
    row->addWidget(cursor_, 1);
    auto* split = named(new QSplitter(Qt::Horizontal, tab), "gpu.split", tr("Two runs side by side"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    for (std::size_t i = 0; i < 2; ++i) {
        timelines_[i] =
            new ui::WarpTimeline(i == 0 ? QStringLiteral("gpu.warps") : QStringLiteral("gpu.warps2"), split);
        split->addWidget(timelines_[i]);
    }
    timelines_[1]->hide();
    column->addLayout(row);
    column->addWidget(split, 1);
    ui::WarpTimeline *one = timelines_[0], *two = timelines_[1];
    // Both show the same cycles.
    connect(one, &ui::WarpTimeline::viewChanged, two, &ui::WarpTimeline::setView);
    connect(two, &ui::WarpTimeline::viewChanged, one, &ui::WarpTimeline::setView);
    connect(one, &ui::WarpTimeline::cursorMoved, this, [this, one, two](qint64 cycle) {
        const QSignalBlocker quiet(two);
        two->setCursor(cycle);
        cursor_->setFullText(one->cursorText());
    });
    connect(two, &ui::WarpTimeline::cursorMoved, one, &ui::WarpTimeline::setCursor);
    for (ui::WarpTimeline* each : {one, two})
        connect(each, &ui::WarpTimeline::instructionChosen, this, [this, each, one](int instruction) {
            const bool listed = (each == one) == (tableOf_->currentIndex() <= 0);
            if (listed && instruction >= 0) table_->setCurrentRow(instruction);
        });
    connect(back_, &QToolButton::clicked, this, [one] { one->step(true); });
    connect(forward_, &QToolButton::clicked, this, [one] { one->step(false); });
    connect(busiest_, &QToolButton::clicked, one, &ui::WarpTimeline::showBusiest);
    connect(all_, &QToolButton::clicked, this, [one, two] {
        for (ui::WarpTimeline* each : {one, two}) each->setHighlighted(-1);
        one->showAll();
    });
    connect(play_, &QToolButton::toggled, this, &GpuPage::play);
    return tab;
}

QWidget* GpuPage::buildActivity(QWidget* parent) {
    auto* split = named(new QSplitter(Qt::Horizontal, parent), "gpu.activity.split", tr("Two runs side by side"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    for (std::size_t i = 0; i < 2; ++i) {
        heats_[i] =
            new ui::ActivityHeat(i == 0 ? QStringLiteral("gpu.activity") : QStringLiteral("gpu.activity2"), split);
        split->addWidget(heats_[i]);
        connect(heats_[i], &ui::ActivityHeat::cycleChosen, this, [this, i](qint64 cycle) {
            const double length = timelines_[i]->length();
            timelines_[i]->setView(static_cast<double>(cycle) - length / 8, length);
            timelines_[i]->setCursor(cycle);
            tabs_->setCurrentIndex(0);
        });
    }
    heats_[1]->hide();
    return split;
}

QWidget* GpuPage::buildInstructions(QWidget* parent) {
    auto* tab = new QWidget(parent);
    auto* column = new QVBoxLayout(tab);
    tableOf_ = namedChoice(tab, "gpu.instructions.of", tr("Instructions of"), tr("Which of the two runs is listed"));
    tableOf_->hide();
    table_ = new ui::CellsTable(QStringLiteral("gpu.instructions"), tr("Instructions"),
                                tr("Cycles of every instruction. Click a column head to sort; click a row to show only "
                                   "this instruction among the warps"),
                                tab);
    column->addWidget(tableOf_);
    column->addWidget(table_, 1);
    connect(tableOf_, &QComboBox::currentIndexChanged, this, &GpuPage::showTable);
    connect(table_, &ui::CellsTable::rowChosen, this, [this](int row) {
        const auto which = static_cast<std::size_t>(std::max(0, tableOf_->currentIndex()));
        timelines_[which]->setHighlighted(row);
    });
    return tab;
}

}  // namespace orrery::app
