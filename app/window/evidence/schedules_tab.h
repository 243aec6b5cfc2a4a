#pragma once

// The schedule explorer: a compiler's tuning log, the schedules of one of its operators, what a model that has not seen
// them predicts of each, and one of them as code, as a picture and as what the model looks at.

#include "evaluation/schedules/explore_schedules.h"

#include <QStringList>
#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QPushButton;
class QTabWidget;

namespace orrery::ui {
class CellsTable;
class Label;
class NestCode;
class NestPicture;
class ReasonBars;
class ScheduleScatter;
struct SchedulePoint;
struct Cell;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class SchedulesTab : public QWidget {
    Q_OBJECT
public:
    explicit SchedulesTab(QWidget* parent = nullptr);
    ~SchedulesTab() override;
    void openLog(const QString& file);
    bool isWorking() const;
    /// What the model says of the operator that is chosen; null while it is not known.
    const ExploredOperator* explored() const { return explored_.get(); }
    /// What it says of times of operators with few schedules; null while it is not known.
    const ScheduleJudgement* times() const { return times_.get(); }
    /// The schedule that is shown, as a place in the operator's; −1: none.
    int current() const { return current_; }
    /// By the ending: the schedules (csv, tex), the plot (svg, pdf, png), the nest (nest.svg, …, nest.csv, txt),
    /// features (features.csv), what the model looks at (why.svg, …, why.csv). What went wrong; empty if nothing.
    QString exportTo(const QString& file) const;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    struct Log {
        std::vector<TunedRow> rows;
        std::vector<ScheduleGroup> groups;
        Diagnostics skipped;
    };
    struct Listing {
        std::vector<std::size_t> places;  ///< of the group, as listed
        std::vector<std::vector<ui::Cell>> cells;
    };
    QWidget* buildForm();
    QWidget* buildOne(QWidget* parent);
    static constexpr std::size_t mostListed = 5000;
    /// `product 128 × 2304 × 768`, `convolution 64 → 128, 56 × 56, kernel 3 × 3`.
    static QString workText(const TensorWork& work);
    static QStringList listHeads(bool mixed);
    static Listing listed(const Log& log, const ScheduleGroup& group, const ExploredOperator* explored);
    static Listing listedTimes(const Log& log, const ScheduleGroup& group, const ScheduleJudgement* times);
    void chooseGroup();
    void fit();
    void showList(Listing listing);
    void fitTimes();
    void showTimes(std::shared_ptr<const ScheduleJudgement> times, Listing listing);
    void showWithout(const Diagnostic& why);
    struct Fitted {
        std::shared_ptr<const ExploredOperator> explored;
        Listing listing;
    };
    void showFit(Fitted fitted);
    void askIntervals();
    void showIntervals(Fitted fitted);
    std::vector<ui::SchedulePoint> pointsOf(const ExploredOperator& explored) const;
    void sayFit(const QString& ofIntervals = {});
    void showSchedule(int place);
    void showFacts();
    void showReasons();
    void askReasons();
    void showState();
    void say(const QString& text, bool bad = false);
    void refuse(const Diagnostic& why);
    const ScheduleGroup* group() const;
    std::string scheduleCsv() const;
    QString whyNoReasons() const;
    void chooseFile();

    std::shared_ptr<const Log> log_;
    std::shared_ptr<const ExploredOperator> explored_;
    std::shared_ptr<const ScheduleJudgement> times_;  ///< of the whole log
    bool intervalsLeft_ = false;                      ///< explored_ has none yet: they were stopped, or failed
    std::vector<std::size_t> listed_;                 ///< places by row of the list
    std::unique_ptr<ScheduleReasons> reasons_;
    int current_ = -1;
    QComboBox *operator_, *whose_;
    QPushButton *fit_, *export_;
    ui::Label* state_;
    ui::Label* basis_ = nullptr;
    QTabWidget* one_ = nullptr;
    ui::CellsTable *list_, *facts_ = nullptr;
    ui::ScheduleScatter* scatter_;
    ui::NestCode* code_ = nullptr;
    ui::NestPicture* picture_ = nullptr;
    ui::ReasonBars* bars_ = nullptr;
    Background *why_, *work_;
};

}  // namespace orrery::app
