#pragma once

// The question, as controls: model, fleet, policy, traffic, promise, and who prices iterations. Holds no state of its
// own beyond the controls; every edit yields a whole question.

#include "app/window/serving/serving_question.h"
#include "app/window/serving/serving_sections.h"

#include <QScrollArea>

#include <functional>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class Label;
class LogSlider;
class TrafficPicture;
}  // namespace orrery::ui

namespace orrery::app {

class ServingForm : public QScrollArea {
    Q_OBJECT
public:
    explicit ServingForm(QWidget* parent = nullptr);
    /// What a policy begins with on a device: an entry of the catalogue, or what is drawn where there is no name.
    using Defaults = std::function<void(SchedulerSpec&, const std::string& device)>;
    void setDefaults(Defaults defaults) { defaults_ = std::move(defaults); }
    const ServingStudy& question() const { return question_; }
    void setQuestion(const ServingStudy& question);
    void setStream(std::shared_ptr<const RequestStream> stream);  ///< what the traffic became, for its picture
    /// What the fleet became, in words, and how sure its iteration times are (factors of 90 %; both 1: not measured).
    void setPlan(const PlannedFleet& planned, double low, double high);
    /// Who can price the iterations of each pool, and who does.
    void setPricers(std::vector<PoolPricers> pricers);

    /// The trace has other columns than any kind that is known: opens the section where they are named, and says so.
    QString askForColumns();

    /// Brings the field of that path into sight and gives it the keys.
    void lead(const char* path);

signals:
    void edited();                            ///< by a person
    void turnRequested(const QString& path);  ///< a search is to turn the field of that path

private:
    QFormLayout* section(const QString& title);
    void buildModel();
    void buildPricer(QFormLayout* form, FieldRows& rows);
    void showPricer();
    void choosePricer();
    void buildFleet();
    void buildPolicy();
    void buildTraffic();
    void buildPromise();
    void addFolds(const std::vector<FieldFold*>& folds);
    FieldRows& rowsOn(QFormLayout* form);
    void change(const QuestionChange& change);
    void showFields();
    void showOptions();
    void sumUpOptions();
    void alignLabels();  ///< one column over all sections
    void showTraffic();
    void chooseTrace(bool arrivals);  ///< whose lengths count, and, if asked, whose times
    void changed();
    PoolSpec& pool() { return question_.scenario.pools.front(); }

    ServingStudy question_;
    std::vector<PoolPricers> pricers_;                ///< by pool; empty before the first answer
    std::string asked_;                               ///< file whose columns were asked for
    std::int64_t requests_ = TrafficSpec{}.requests;  ///< last number that was not "all"
    bool filling_ = false;
    std::shared_ptr<PlanFacts> facts_ = std::make_shared<PlanFacts>();
    std::vector<FieldFold*> folds_;
    std::vector<FieldRows*> rows_;  ///< of the sections that do not fold
    ui::Fold* numbers_ = nullptr;
    QWidget* inner_;
    QComboBox* device_ = nullptr;
    QSpinBox *replicas_ = nullptr, *prefillReplicas_ = nullptr;
    QFormLayout *fleetRows_ = nullptr, *trafficRows_ = nullptr;
    QCheckBox* split_ = nullptr;
    QComboBox *policy_ = nullptr, *second_ = nullptr, *method_ = nullptr;
    QWidget* options_ = nullptr;
    ui::Label *policyText_ = nullptr, *planText_ = nullptr, *rateText_ = nullptr, *trafficText_ = nullptr;
    QComboBox* arrivals_ = nullptr;
    ui::LogSlider* rate_ = nullptr;
    QSpinBox *prompt_ = nullptr, *output_ = nullptr;
    QComboBox* lengths_ = nullptr;
    QPushButton* trace_ = nullptr;
    ui::TrafficPicture* picture_ = nullptr;
    Defaults defaults_;
};

}  // namespace orrery::app
